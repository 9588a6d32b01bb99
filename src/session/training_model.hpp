// A network with a loss and an optimizer, compiled into one step that is called with batches.
//
//   session::TrainingModel training(network, loss, compile::Adam{}, {.threads = 2});
//   training.compile({image_type, label_type});
//   const session::StepResult& result = training(image, label, learning_rate);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/optimizer.hpp"
#include "compile/plan.hpp"
#include "core/pending_file.hpp"
#include "model/network.hpp"
#include "session/compile_report.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "session/step_result.hpp"

namespace cosmic::session {

class TrainingModel {
 public:
  /// The network and the loss are only needed while compiling.
  TrainingModel(const model::Network& network, const model::Loss& loss,
                compile::Optimizer optimizer, Options options);
  ~TrainingModel();
  TrainingModel(TrainingModel&&) noexcept;
  TrainingModel& operator=(TrainingModel&&) noexcept;

  /// Builds, rewrites, plans and prepares the step. The learning rate stays an input.
  const CompileReport& compile(const BatchTypes& types);

  /// One update. With gradient accumulation N, image and label hold N batches one after the other;
  /// loss and scores are their means, logits those of the last one.
  const StepResult& operator()(std::span<const float> image, std::span<const std::uint8_t> label,
                               double learning_rate);

  /// The gradient of a parameter in the last call. Only if Options asked for gradients.
  std::span<const float> gradient(const std::string& parameter) const;

  /// Shared with any inference model made from it. Only after compile().
  const std::shared_ptr<ModelState>& state() const;
  const CompileReport& report() const;
  std::vector<OpTiming> timings() const;

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
