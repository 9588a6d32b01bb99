// Validation: the loss and the scores that the weights of another model give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/plan.hpp"
#include "core/pending_file.hpp"
#include "model/network.hpp"
#include "session/call_statistics.hpp"
#include "session/compile_report.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "session/step_result.hpp"
#include "session/tensor.hpp"

namespace cosmic::session {

/// Loss and scores of labelled batches with the weights of another model, without changing them:
/// validation while training.
class EvaluationModel {
 public:
  EvaluationModel(const model::Network& network, const model::Loss& loss, Options options,
                  std::shared_ptr<ModelState> state);
  ~EvaluationModel();
  EvaluationModel(EvaluationModel&&) noexcept;
  EvaluationModel& operator=(EvaluationModel&&) noexcept;

  /// The types are those of a micro-batch.
  const CompileReport& compile(const BatchTypes& types);
  /// The same for what one call will take.
  const CompileReport& compile(const Tensor& sample_image, const Tensor& sample_label);

  /// Image and label hold all micro-batches of the call.
  const StepResult& operator()(std::span<const float> image, std::span<const std::uint8_t> label);

  /// The result of a layer in the last micro-batch. Only of Options::anchors.
  std::span<const float> anchored(const std::string& layer) const;

  const CompileReport& report() const;
  const CallStatistics& last_call() const;

  /// As of a TrainingModel.
  void detach();
  void attach();
  bool attached() const;

  /// Every program that compile() made, with what it was made from. Valid until the next one.
  std::vector<const compile::Plan*> plans() const;
  /// Writes them to a file that Options::executable takes. Weights are not in it.
  void export_executable(const std::filesystem::path& path,
                         Existing existing = Existing::refuse) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
