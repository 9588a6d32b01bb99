// A network compiled to turn images into logits.
//
//   session::InferenceModel inference(network, {}, training.state());  // the same weights
//   inference.compile(image_type);
//   const std::span<const float> logits = inference(image);
#pragma once

#include <memory>
#include <span>

#include "graph/tensor_type.hpp"
#include "model/network.hpp"
#include "session/compiled_model.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

class InferenceModel : public CompiledModel {
 public:
  /// Without a state the model makes its own, untrained.
  InferenceModel(const model::Network& network, Options options,
                 std::shared_ptr<ModelState> state = nullptr);
  ~InferenceModel();
  InferenceModel(InferenceModel&&) noexcept;
  InferenceModel& operator=(InferenceModel&&) noexcept;

  /// The type is that of a micro-batch.
  const CompileReport& compile(const graph::TensorType& image);
  /// The same for what one call will take.
  const CompileReport& compile(const Tensor& sample_image);

  /// The logits, in memory the model owns: valid until the next call. The image holds all
  /// micro-batches of the call, the first iteration's first, in it the first replica's. All logits
  /// come back unless Options::output_mode says otherwise.
  std::span<const float> operator()(std::span<const float> image);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
