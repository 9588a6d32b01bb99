// What all kinds of models have in common: options, a target, a state, programs that are attached
// to the target or not, and what is known about the last call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "graph/builder.hpp"
#include "machine/prediction.hpp"
#include "session/call_batches.hpp"
#include "session/call_shape.hpp"
#include "session/call_statistics.hpp"
#include "session/compile_report.hpp"
#include "session/device_memory.hpp"
#include "session/memory_use.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "session/planning.hpp"
#include "session/program.hpp"
#include "session/step_result.hpp"

namespace cosmic::session {

class ModelCore {
 public:
  ModelCore(Options options, Purpose purpose, std::shared_ptr<ModelState> state);

  const Options& options() const { return options_; }
  const target::Target& target() const { return *target_; }
  CallShape shape() const { return call_shape(options_); }

  /// The types of a micro-batch of which `whole` holds those of a call. Throws UserError if it does
  /// not.
  graph::TensorType micro_batch_of(const graph::TensorType& whole) const;

  /// Ends the building of a network: with stages and anchors as the options ask for.
  graph::Graph finish(graph::Builder& g);
  /// Takes over the programs of a model that has just been compiled. A training model begins with a
  /// new state, other models keep the one they were given.
  void install(std::vector<compile::Plan> plans, std::optional<machine::Prediction> prediction,
               const Stopwatch& since);
  /// Plans and installs the one program of a model that does not train.
  void install_forward(const graph::Graph& forward, const Stopwatch& since);
  /// The first is the one that micro-batches go through.
  Program& program(std::size_t index = 0) { return *programs_[index]; }
  const Program& program(std::size_t index = 0) const { return *programs_[index]; }

  void attach();
  void detach();
  bool attached() const { return !programs_.empty() && programs_.front()->attached(); }

  /// Throw UserError that says what to do.
  void require_compiled() const;
  void require_runnable() const;
  /// Images and labels of a call hold whole micro-batches; a call without labels has none.
  void require_whole_batches(const CallBatches& given) const;

  const std::shared_ptr<ModelState>& state() const;
  const CompileReport& report() const;
  /// Of every program, with what it was made from.
  std::vector<const compile::Plan*> plans() const;
  std::vector<OpTiming> timings() const;
  /// Of the first program.
  MemoryUse memory() const;
  std::span<const float> anchored(const std::string& layer) const;
  const std::vector<std::string>& layers() const;

  CallRecorder& recorder() { return recorder_; }
  const CallStatistics& last_call() const { return recorder_.last(); }

 private:
  /// With the moving averages in place of the weights, if the options want them.
  graph::Graph with_chosen_weights(graph::Graph forward) const;
  void attach_programs();
  /// Throws DeviceMemoryError or HostMemoryError if the programs do not fit, unless they are never
  /// brought there.
  std::optional<DeviceMemoryPlan> plan_device_memory(States states) const;

  Options options_;
  Purpose purpose_;
  std::unique_ptr<target::Target> target_;
  std::shared_ptr<ModelState> state_;  // shared with the models that were made from this one
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<std::string> layers_;
  std::optional<CompileReport> report_;
  CallRecorder recorder_;
};

}  // namespace cosmic::session
