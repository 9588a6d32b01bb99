// The two ways to use a network: train it or run it. Both compile once for fixed shapes and then
// only run. A model owns nothing about data; it is called with batches.
//
//   session::TrainingModel training(network, loss, compile::Adam{}, {.threads = 2});
//   training.compile({image_type, label_type});
//   const session::StepResult& result = training(image, label, learning_rate);
//   session::InferenceModel inference(network, {}, training.state());   // the same weights
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/optimizer.hpp"
#include "compile/plan.hpp"
#include "model/network.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "session/tensor.hpp"
#include "target/target.hpp"

namespace cosmic::session {

/// Types of one batch. A model is compiled for these and takes no others.
struct BatchTypes {
  graph::TensorType image;
  graph::TensorType label;
};

/// What compiling did and what running will need.
struct CompileReport {
  double seconds = 0;
  std::vector<compile::PassReport> passes;
  std::size_t nodes = 0;
  std::int64_t arena_bytes = 0;
  std::int64_t peak_live_bytes = 0;
  std::int64_t memory_bytes = 0;  ///< arena, scratch, prepared weights
  double flops = 0;               ///< of one run, by the ops' own count
};

/// Where the time of the last call went: one entry per node that did work.
struct OpTiming {
  std::string op;
  std::string layer;
  graph::TensorType type;  ///< of its result
  double seconds = 0;
  graph::Cost cost;  ///< by the op's own count, without what it recomputes
};

/// Results of one call, in memory the model owns: valid until the next call.
struct StepResult {
  double loss = 0;
  std::span<const float> scores;  ///< empty if the loss has none
  std::span<const float> logits;  ///< empty unless Options asked for them
};

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

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

class InferenceModel {
 public:
  /// Without a state the model makes its own, untrained.
  InferenceModel(const model::Network& network, Options options,
                 std::shared_ptr<ModelState> state = nullptr);
  ~InferenceModel();
  InferenceModel(InferenceModel&&) noexcept;
  InferenceModel& operator=(InferenceModel&&) noexcept;

  const CompileReport& compile(const graph::TensorType& image);

  /// The logits, in memory the model owns: valid until the next call.
  std::span<const float> operator()(std::span<const float> image);

  const std::shared_ptr<ModelState>& state() const;
  const CompileReport& report() const;
  std::vector<OpTiming> timings() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Loss and scores of labelled batches with the weights of another model, without changing them:
/// validation while training.
class EvaluationModel {
 public:
  EvaluationModel(const model::Network& network, const model::Loss& loss, Options options,
                  std::shared_ptr<ModelState> state);
  ~EvaluationModel();
  EvaluationModel(EvaluationModel&&) noexcept;
  EvaluationModel& operator=(EvaluationModel&&) noexcept;

  const CompileReport& compile(const BatchTypes& types);

  const StepResult& operator()(std::span<const float> image, std::span<const std::uint8_t> label);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::session
