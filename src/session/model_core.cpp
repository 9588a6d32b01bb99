#include "session/model_core.hpp"

#include <string>

#include "compile/layer_names.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "session/predicting.hpp"

namespace cosmic::session {
namespace {

/// The verdict where the error bar reaches over the limit. Only what is likely not to fit is a
/// warning.
void add_verdict(const machine::Prediction& prediction, CompileReport& report) {
  const machine::MemoryVerdict& memory = prediction.memory;
  if (certain(memory.fits)) {
    return;
  }
  const std::string text =
      "It " + to_string(memory.fits) + " " + prediction.machine + ": " + memory.place + " needs " +
      to_string(memory.needed) + ", with its error bar " + to_string(memory.needed_low) + " to " +
      to_string(memory.needed_high) + ", and has " + to_string(memory.available) + ".";
  (likely(memory.fits) ? report.notes : report.warnings).push_back(text);
}

}  // namespace

ModelCore::ModelCore(Options options, Purpose purpose, std::shared_ptr<ModelState> state)
    : options_(std::move(options)),
      purpose_(purpose),
      target_(chosen_target(options_, purpose)),
      state_(std::move(state)) {
  options_.precision = target_->coerced(options_.precision);
  validate(options_, purpose_);  // what was asked for may not go with what the machine makes of it
}

graph::TensorType ModelCore::micro_batch_of(const graph::TensorType& whole) const {
  const std::int64_t batches = shape().batches();
  COSMIC_REQUIRE(UserError, whole.rank() > 0 && whole.dim(0) % batches == 0,
                 "a sample of " << whole << " does not hold the " << batches
                                << " micro-batches of a call (device_iterations "
                                << options_.device_iterations << " x replication_factor "
                                << options_.replication_factor << " x gradient_accumulation "
                                << options_.gradient_accumulation
                                << "); give what a call takes, its first axis divisible by that");
  graph::TensorType type = whole;
  type.shape[0] /= batches;
  return type;
}

graph::Graph ModelCore::finish(graph::Builder& g) {
  graph::Graph forward = g.take();
  annotate(forward, options_);
  layers_ = compile::block_names(forward);
  return forward;
}

void ModelCore::install(std::vector<compile::Plan> plans,
                        std::optional<machine::Prediction> prediction, const Stopwatch& since) {
  report_.reset();  // until the new programs run, nothing does
  programs_.clear();
  std::vector<const graph::Graph*> graphs;
  for (compile::Plan& plan : plans) {
    programs_.push_back(std::make_unique<Program>(std::move(plan)));
    graphs.push_back(&programs_.back()->graph());
  }
  CompileReport report;
  const bool new_state = state_ == nullptr || purpose_ == Purpose::training;
  report.device_memory = plan_device_memory(new_state ? States::to_be_made : States::there);
  if (!options_.offline_compile) {
    if (new_state) {
      state_ = std::make_shared<ModelState>(*target_, graphs, options_.seed);
    }
    for (const graph::Graph* graph : graphs) {
      require_states(*state_, *graph);
    }
    attach_programs();
  }
  for (const std::unique_ptr<Program>& program : programs_) {
    program->add_to(report);
  }
  if (options_.stages.count() > 0) {
    report.stages = compile::stage_reports(graphs, options_.stages.count());
  }
  report.provenance = target_->provenance();
  report.prediction = std::move(prediction);
  if (report.prediction) {
    add_verdict(*report.prediction, report);
  }
  for (std::string& note : target_->contract(options_.precision)) {
    report.notes.push_back(std::move(note));
  }
  report.seconds = since.seconds();
  report_ = std::move(report);
  recorder_ = {};
}

std::optional<DeviceMemoryPlan> ModelCore::plan_device_memory(States states) const {
  std::vector<const compile::Plan*> plans;
  for (const std::unique_ptr<Program>& program : programs_) {
    plans.push_back(&program->plan());
  }
  std::optional<DeviceMemoryPlan> memory = session::plan_device_memory(*target_, plans, states);
  if (memory && !memory->fits() && !options_.offline_compile) {
    const graph::Graph& graph = programs_.front()->graph();
    throw DeviceMemoryError(*memory, graph.type(graph.inputs.front().value));
  }
  if (!memory && !options_.offline_compile) {
    const graph::Graph& graph = programs_.front()->graph();
    require_host_memory(
        host_memory(plans, states),
        "a step of " + std::to_string(graph.type(graph.inputs.front().value).dim(0)) + " events");
  }
  return memory;
}

graph::Graph ModelCore::with_chosen_weights(graph::Graph forward) const {
  if (!options_.averaged_weights) {
    return forward;
  }
  std::size_t averages = 0;
  for (graph::StateVariable& state : forward.states) {
    const std::string average = compile::average_name(state.name);
    if (state_ != nullptr && state_->has(average)) {  // counters have none
      state.name = average;
      ++averages;
    }
  }
  COSMIC_REQUIRE(UserError, averages > 0,
                 "averaged_weights is true for a state without averages (it was not made by a "
                 "training with weights_average); leave it out to use the weights themselves");
  return forward;
}

void ModelCore::install_forward(const graph::Graph& built, const Stopwatch& since) {
  const graph::Graph forward = with_chosen_weights(built);
  const compile::Precision precision = precision_of(options_);
  std::optional<machine::Prediction> prediction =
      predict_program(forward, compile::inference_passes(target_->machine_info(), precision),
                      *target_, options_, Purpose::inference);
  std::vector<compile::Plan> plans;
  plans.push_back(plan_program(forward, compile::inference_passes(target_->info(), precision),
                               *target_, options_));
  install(std::move(plans), std::move(prediction), since);
}

void ModelCore::attach_programs() {
  state_->restore(*target_);
  const target::CompileOptions kernels = kernel_options(options_);
  for (const std::unique_ptr<Program>& program : programs_) {
    program->attach(*target_, *state_, kernels);
  }
}

void ModelCore::attach() {
  require_compiled();
  COSMIC_REQUIRE(UserError, !options_.offline_compile,
                 "the model was compiled offline (offline_compile is true, so it has no state to "
                 "bring to a target); compile it without that option");
  if (!attached()) {
    attach_programs();
  }
}

void ModelCore::detach() {
  require_compiled();
  for (const std::unique_ptr<Program>& program : programs_) {
    program->detach();
  }
  if (state_ != nullptr) {
    state_->release();
  }
}

void ModelCore::require_compiled() const {
  COSMIC_REQUIRE(UserError, report_.has_value(),
                 "the model has not been compiled (it has no program to run and no state yet); "
                 "call compile() with the types of a batch first");
}

void ModelCore::require_runnable() const {
  require_compiled();
  COSMIC_REQUIRE(UserError, !options_.offline_compile,
                 "the model was compiled offline (offline_compile is true, so nothing was brought "
                 "to target '"
                     << target_->name() << "'); compile it without that option to run it");
  COSMIC_REQUIRE(UserError, attached(),
                 "the model is detached (its memory on target '"
                     << target_->name() << "' was released); call attach() before running it");
}

void ModelCore::require_whole_batches(const CallBatches& given) const {
  COSMIC_REQUIRE(UserError, given.hold(shape().batches()),
                 given.text() << " were given (a call takes " << shape().batches()
                              << " micro-batches: device_iterations " << options_.device_iterations
                              << " x replication_factor " << options_.replication_factor
                              << " x gradient_accumulation " << options_.gradient_accumulation
                              << "); give all of them, one after the other");
}

const std::shared_ptr<ModelState>& ModelCore::state() const {
  require_compiled();
  COSMIC_REQUIRE(UserError, state_ != nullptr,
                 "a model that was compiled offline has no state (offline_compile is true); "
                 "compile it without that option");
  return state_;
}

const CompileReport& ModelCore::report() const {
  require_compiled();
  return *report_;
}

std::vector<const compile::Plan*> ModelCore::plans() const {
  require_compiled();
  std::vector<const compile::Plan*> plans;
  for (const std::unique_ptr<Program>& program : programs_) {
    plans.push_back(&program->plan());
  }
  return plans;
}

std::vector<OpTiming> ModelCore::timings() const {
  require_runnable();
  return program().timings();
}

MemoryUse ModelCore::memory() const {
  require_compiled();
  return program().memory();
}

std::span<const float> ModelCore::anchored(const std::string& layer) const {
  require_compiled();
  const std::span<const float> found = program().output(anchor_output(layer));
  COSMIC_REQUIRE(UserError, !found.empty(),
                 "layer '" << layer
                           << "' is not anchored (only anchored results are returned); add it to "
                              "Options::anchors before compiling");
  return found;
}

const std::vector<std::string>& ModelCore::layers() const {
  require_compiled();
  return layers_;
}

}  // namespace cosmic::session
