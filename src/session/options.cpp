#include "session/options.hpp"

#include <map>

#include "core/error.hpp"
#include "core/limits.hpp"
#include "session/call_shape.hpp"
#include "session/option_words.hpp"

namespace cosmic::session {
namespace {

void require_repeats(const char* name, std::int64_t value, const char* why) {
  COSMIC_REQUIRE(UserError, value >= 1,
                 name << " is " << value << " (" << why << "); use 1 for none");
  COSMIC_REQUIRE(UserError, value <= kMostRepeats,
                 name << " is " << value << " (one call would take that many batches, which no "
                      << "memory can hold); use " << kMostRepeats << " at most");
}

void validate_counts(const Options& options) {
  COSMIC_REQUIRE(UserError, options.threads >= 0,
                 "threads is " << options.threads
                               << " (a number of threads cannot be negative); use 0 for all cores");
  COSMIC_REQUIRE(UserError, options.threads <= kMostThreads,
                 "threads is " << options.threads << " (at most " << kMostThreads
                               << " can be started); use 0 for all cores");
  require_repeats("device_iterations", options.device_iterations,
                  "a call makes at least one update or inference");
  require_repeats("replication_factor", options.replication_factor,
                  "there is at least one copy of the model");
  require_repeats("gradient_accumulation", options.gradient_accumulation,
                  "an update needs the gradient of at least one batch");
}

void validate_output_mode(const Options& options) {
  if (options.output_mode != OutputMode::every_n) {
    COSMIC_REQUIRE(UserError, options.output_every == 1,
                   "output_every is " << options.output_every << " with output_mode '"
                                      << model::to_string(options.output_mode)
                                      << "' (only every_n counts); set output_mode to every_n");
    return;
  }
  const std::int64_t batches = call_shape(options).batches();
  COSMIC_REQUIRE(UserError, options.output_every >= 1,
                 "output_every is "
                     << options.output_every
                     << " (one result in every output_every is returned); use 1 for all of them");
  COSMIC_REQUIRE(UserError, options.output_every <= batches,
                 "output_every is " << options.output_every << ", but a call has " << batches
                                    << " results (so none would ever be returned); use " << batches
                                    << " for the last one only");
  COSMIC_REQUIRE(UserError, batches % options.output_every == 0,
                 "output_every is "
                     << options.output_every << ", which does not divide the " << batches
                     << " results of a call (the last ones would be left over); use a divisor of "
                     << batches);
}

void validate_stages(const Options& options) {
  const Stages& stages = options.stages;
  const std::string strategy = model::to_string(options.execution_strategy);
  COSMIC_REQUIRE(UserError, stages.automatic >= 0,
                 "automatic_stages is "
                     << stages.automatic
                     << " (a number of stages cannot be negative); use 0 with named stages");
  COSMIC_REQUIRE(
      UserError, stages.blocks.empty() || stages.automatic == 0,
      "stages names " << stages.blocks.size() << " stages and automatic_stages asks for "
                      << stages.automatic
                      << " (stages are chosen either by name or by cost); leave one out");
  if (options.execution_strategy == ExecutionStrategy::none) {
    COSMIC_REQUIRE(UserError, stages.count() == 0,
                   "there are " << stages.count()
                                << " stages, but execution_strategy is none (they would have no "
                                   "effect); choose pipelined or sharded, or leave the stages out");
    return;
  }
  COSMIC_REQUIRE(UserError, stages.count() >= 2,
                 "execution_strategy is " << strategy << " with " << stages.count()
                                          << " stages (it spreads a model over several stages); "
                                             "name stages, or set automatic_stages to 2 or more");
  std::map<std::string, std::size_t> stage_of;
  for (std::size_t stage = 0; stage < stages.blocks.size(); ++stage) {
    COSMIC_REQUIRE(UserError, !stages.blocks[stage].empty(),
                   "stage " << stage << " of stages names no block (it would have nothing to do); "
                            << "name one, or leave the stage out");
    for (const std::string& block : stages.blocks[stage]) {
      const auto [known, is_new] = stage_of.emplace(block, stage);
      COSMIC_REQUIRE(UserError, is_new,
                     "block '" << block << "' is in stages " << known->second << " and " << stage
                               << " (a layer runs in one stage only); name it once");
    }
  }
}

/// A pipeline that is never full computes nothing that a single stage would not.
void validate_pipeline(const Options& options, Purpose purpose) {
  if (options.execution_strategy != ExecutionStrategy::pipelined) {
    return;
  }
  const std::int64_t forward = options.stages.count();
  if (purpose == Purpose::inference) {
    COSMIC_REQUIRE(UserError, options.device_iterations >= forward,
                   "execution_strategy is pipelined with "
                       << forward << " stages, but device_iterations is "
                       << options.device_iterations
                       << " (fewer micro-batches than stages never fill the pipeline); set "
                          "device_iterations to "
                       << forward << " or more, or use fewer stages");
    return;
  }
  // The last stage goes back at once; each of the others comes by twice.
  COSMIC_REQUIRE(UserError, forward <= kMostStages,
                 "execution_strategy is pipelined with "
                     << forward << " stages (no network has that many layers); use " << kMostStages
                     << " at most");
  const std::int64_t stages = 2 * forward - 1;
  COSMIC_REQUIRE(UserError, options.gradient_accumulation >= stages,
                 "execution_strategy is pipelined with "
                     << forward << " stages, which are " << stages
                     << " with the backward pass, but gradient_accumulation is "
                     << options.gradient_accumulation
                     << " (all micro-batches in the pipeline see the same weights, so an update "
                        "needs at least that many); set gradient_accumulation to "
                     << stages << " or more, or use fewer stages");
}

void validate_averages(const Options& options) {
  COSMIC_REQUIRE(UserError, options.weights_average >= 0 && options.weights_average < 1,
                 "weights_average is "
                     << options.weights_average
                     << " (a decay is at least 0, which is no average, and less than 1); use one "
                        "such as 0.999");
  COSMIC_REQUIRE(UserError,
                 options.weights_average == 0 ||
                     options.precision.weights == compile::Precision::Weights::master,
                 "weights_average is "
                     << options.weights_average
                     << " without master weights (an average that is rounded after each update "
                        "stops moving); keep master weights, or leave the average out");
  COSMIC_REQUIRE(UserError, !options.averaged_weights,
                 "averaged_weights is true for training (updates are made to the last weights); "
                 "leave it out, and set it for the model that evaluates");
}

void validate_purpose(const Options& options, Purpose purpose) {
  if (purpose == Purpose::training) {
    validate_averages(options);
    return;
  }
  COSMIC_REQUIRE(UserError, options.gradient_accumulation == 1,
                 "gradient_accumulation is "
                     << options.gradient_accumulation
                     << " for inference (there are no gradients to accumulate); use 1, and "
                        "device_iterations for several micro-batches in a call");
  COSMIC_REQUIRE(
      UserError, options.recomputation_checkpoints.empty(),
      "recomputation_checkpoints names '"
          << options.recomputation_checkpoints.front()
          << "' for inference (there is no backward pass to keep results for); leave it out");
  COSMIC_REQUIRE(UserError, !options.recompute,
                 "recompute is true for inference (there is no backward pass to keep results for); "
                 "leave it out");
  COSMIC_REQUIRE(UserError, !options.outputs.gradients,
                 "output_gradients is true for inference (there are none); leave it out");
  COSMIC_REQUIRE(UserError, !options.variable_optimizer,
                 "variable_optimizer is true for inference (there is no optimizer); leave it out");
  COSMIC_REQUIRE(UserError, options.weights_average == 0,
                 "weights_average is " << options.weights_average
                                       << " for inference (nothing changes that could be "
                                          "averaged); leave it out");
}

}  // namespace

void validate(const Options& options, Purpose purpose) {
  validate_counts(options);
  validate_purpose(options, purpose);
  validate_output_mode(options);
  validate_stages(options);
  validate_pipeline(options, purpose);
  compile::validate(options.precision);
  COSMIC_REQUIRE(
      UserError, options.exchange_format != NumberFormat::f16,
      "exchange_precision is float16 (gradients are often smaller than its smallest number, and "
      "would be lost on their way); use bfloat16 or float32");
  COSMIC_REQUIRE(
      UserError,
      options.recomputation_checkpoints.empty() || options.precision.rounding == Rounding::nearest,
      "recomputation_checkpoints names '" << options.recomputation_checkpoints.front()
                                          << "' with stochastic rounding (a recomputed value would "
                                             "be rounded differently); choose one or the other");
  COSMIC_REQUIRE(UserError, !options.recompute || options.recomputation_checkpoints.empty(),
                 "recompute is true and recomputation_checkpoints names '"
                     << options.recomputation_checkpoints.front()
                     << "' (layers are chosen either by name or by memory); leave one out");
  COSMIC_REQUIRE(UserError, !options.recompute || options.precision.rounding == Rounding::nearest,
                 "recompute is true with stochastic rounding (a recomputed value would be rounded "
                 "differently); choose one or the other");
  COSMIC_REQUIRE(UserError, !(options.offline_compile && options.synthetic_data),
                 "offline_compile and synthetic_data are both true (nothing would run on the "
                 "data); choose one");
}

Options without_training(Options options) {
  options.gradient_accumulation = 1;
  options.recomputation_checkpoints.clear();
  options.recompute = false;
  options.outputs.gradients = false;
  options.variable_optimizer = false;
  options.averaged_weights = options.weights_average > 0;
  options.weights_average = 0;
  if (options.device_iterations < options.stages.count()) {  // gradients filled the pipeline
    options.execution_strategy = ExecutionStrategy::none;
    options.stages = {};
  }
  return options;
}

}  // namespace cosmic::session
