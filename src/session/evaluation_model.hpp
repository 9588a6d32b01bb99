// Validation: the loss and the scores that the weights of another model give.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/network.hpp"
#include "session/call_batches.hpp"
#include "session/compiled_model.hpp"
#include "session/step_result.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

/// Loss and scores of labelled batches with the weights of another model, without changing them:
/// validation while training.
class EvaluationModel : public CompiledModel {
 public:
  /// As in TrainingModel, network and loss must be there while it is compiled.
  EvaluationModel(const model::Network& network, const model::Loss& loss, Options options,
                  std::shared_ptr<ModelState> state);
  EvaluationModel(const model::Network&& network, const model::Loss& loss, Options options,
                  std::shared_ptr<ModelState> state) = delete;
  EvaluationModel(const model::Network& network, const model::Loss&& loss, Options options,
                  std::shared_ptr<ModelState> state) = delete;
  ~EvaluationModel();
  EvaluationModel(EvaluationModel&&) noexcept;
  EvaluationModel& operator=(EvaluationModel&&) noexcept;

  /// The types are those of a micro-batch.
  const CompileReport& compile(const BatchTypes& types);
  /// The same for what one call will take.
  const CompileReport& compile(const Tensor& sample_image, const Tensor& sample_label);

  /// Image and label hold all micro-batches of the call.
  const StepResult& operator()(std::span<const float> image, std::span<const std::uint8_t> label);
  /// The same with pixels alone, a batch for each micro-batch of the call.
  const StepResult& operator()(std::span<const SparseBatch> batches);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
