// Events as tensors. A request has one of
//
//   image                          FP32 [events, 3, rows, columns], all pixels
//   plane, index, charge, (event)  integers and FP32 [pixels], those with charge alone
//   larcv                          BYTES [1], a larcv3 file
//
// on the grid of the events as they are stored, where index = column * rows + row; the server
// shrinks and scales images as the weights want it. An answer has, on the grid that the network
// sees, tag, cosmic, neutrino [events, 3, rows, columns] and logits [events, 3 planes, 3 classes,
// rows, columns]; and at the pixels that were sent, in their order, pixel_tag, pixel_cosmic and
// pixel_neutrino.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "serve/infer_request.hpp"
#include "serve/served_model.hpp"

namespace cosmic::serve {

enum class InputForm { image, pixels, larcv };

/// A request that was found sound, ready for its model.
struct PreparedCall {
  std::shared_ptr<TaggingCall> call;  ///< shared with the replicas, see TaggingCall
  InputForm form = InputForm::image;
  std::vector<RequestedOutput> outputs;
  /// Of sparse pixels: where number i of event by event, plane by plane was in the request.
  std::vector<std::uint32_t> order;
  std::vector<data::EventId> ids;  ///< of a file
};

/// Throws Refusal for whatever is wrong, a number that is not finite among it.
PreparedCall prepare(const InferRequest& request, const ServedModel& model, const Limits& limits);

/// Of a call that was tagged.
std::vector<OutputTensor> answer_of(const PreparedCall& prepared, const ServedModel& model);

/// A tensor of a model, as its metadata describe it; -1 for any extent.
struct TensorDescription {
  std::string name;
  std::string datatype;
  std::vector<std::int64_t> shape;
  bool optional = false;
};
std::vector<TensorDescription> inputs_of(const ServedModel& model);
std::vector<TensorDescription> outputs_of(const ServedModel& model);

}  // namespace cosmic::serve
