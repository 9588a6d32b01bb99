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
#include "session/call_batches.hpp"
#include "session/compiled_model.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

class InferenceModel : public CompiledModel {
 public:
  /// Without a state the model makes its own, untrained. The network must be there while it is
  /// compiled.
  InferenceModel(const model::Network& network, Options options,
                 std::shared_ptr<ModelState> state = nullptr);
  InferenceModel(const model::Network&& network, Options options,
                 std::shared_ptr<ModelState> state = nullptr) = delete;
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

  /// The same in two halves. On a target that runs beside the host, what the host does in between
  /// costs no time: reading the next images, and looking at the logits of the call before, which
  /// stay until wait(). So does the memory of the images. Throw UserError if a call is in flight,
  /// or none is.
  void submit(std::span<const float> image);
  std::span<const float> wait();
  /// The same with pixels alone, a batch for each micro-batch of the call.
  void submit(std::span<const SparseBatch> batches);
  /// Says what the next call will be given, as TrainingModel::stage does.
  void stage(std::span<const float> image);
  void stage(std::span<const SparseBatch> batches);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
