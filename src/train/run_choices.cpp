#include "train/run_choices.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "data/event.hpp"
#include "machine/section_plan.hpp"
#include "train/run_outputs.hpp"

namespace cosmic::train {
namespace {

NumberFormat format_of(config::Precision precision) {
  switch (precision) {
    case config::Precision::float32:
      return NumberFormat::f32;
    case config::Precision::bfloat16:
      return NumberFormat::bf16;
    case config::Precision::float16:
      return NumberFormat::f16;
    case config::Precision::mixed:
      throw UserError(
          "run.precision=mixed is not available (it is float16 with a loss scale that follows "
          "overflows, made for GPUs that multiply float16 faster; there is no such target in this "
          "build, and computing something else in its place would be another run); use "
          "run.precision=bfloat16, which needs no loss scale, or float16");
  }
  COSMIC_ASSERT(false);
}

}  // namespace

compile::Precision precision_of(const config::RunConfig& run) {
  compile::Precision precision;
  precision.format = format_of(run.precision);
  precision.weights =
      run.master_weights ? compile::Precision::Weights::master : compile::Precision::Weights::pure;
  precision.rounding =
      run.rounding == config::Rounding::stochastic ? Rounding::stochastic : Rounding::nearest;
  precision.partials =
      run.partials == config::Partials::float16 ? NumberFormat::f16 : NumberFormat::f32;
  return precision;
}

compile::Optimizer optimizer_of(const config::OptimizerConfig& config) {
  switch (config.name) {
    case config::OptimizerKind::adam:
    case config::OptimizerKind::adamw:
      return compile::Adam{config.beta1, config.beta2, config.epsilon, config.weight_decay};
    case config::OptimizerKind::rmsprop:
      return compile::Rmsprop{config.alpha, config.epsilon};
    case config::OptimizerKind::sgd:
      return compile::Sgd{config.momentum};
  }
  COSMIC_ASSERT(false);
}

model::SegmentationLoss loss_of(const config::OptimizerConfig& config) {
  return model::SegmentationLoss(config.loss_balance_scheme, config.class_weights);
}

session::Options inference_options(const config::Configuration& configuration,
                                   const std::string& target) {
  constexpr double kGigabyte = 1e9;
  session::Options options;
  options.target = target;
  options.machine = configuration.run.machine;
  options.device = static_cast<int>(configuration.run.device);
  options.launching =
      configuration.run.lazy_mode ? machine::Launching::whole_program : machine::Launching::per_op;
  options.threads = static_cast<int>(configuration.run.threads);
  options.precision = precision_of(configuration.run);
  if (!configuration.run.section_plan.empty()) {
    options.sections = machine::read_section_plan(configuration.run.section_plan);
  }
  options.executable = configuration.run.executable;
  options.executable_cache = configuration.run.executable_cache;
  options.executable_cache_bytes =
      static_cast<std::uint64_t>(configuration.run.executable_cache_gigabytes * kGigabyte);
  return options;
}

session::Options validation_options(const config::Configuration& configuration,
                                    const std::string& target) {
  session::Options options = inference_options(configuration, target);
  options.seed = static_cast<std::uint64_t>(configuration.framework.seed);
  return options;
}

session::Options training_options(const config::Configuration& configuration,
                                  const std::string& target) {
  const config::OptimizerConfig& optimizer = configuration.mode.optimizer;
  session::Options options = validation_options(configuration, target);
  options.gradient_accumulation = optimizer.gradient_accumulation;
  options.accumulation_reduction =
      optimizer.accumulation_reduction == config::GradientReduction::mean ? session::Reduction::mean
                                                                          : session::Reduction::sum;
  options.outputs.logits = RunOutputs::shows_images(configuration);
  options.recompute = configuration.run.recompute;
  if (configuration.run.stages > 1) {
    options.execution_strategy = session::ExecutionStrategy::pipelined;
    options.stages.automatic = configuration.run.stages;
  }
  return options;
}

session::BatchTypes batch_types(const config::Configuration& configuration,
                                const data::DenseShape& shape) {
  const graph::Shape extents{configuration.run.minibatch_size, data::kPlanes, shape.rows,
                             shape.columns};
  return {{graph::DType::f32, extents}, {graph::DType::u8, extents}};
}

std::int64_t last_step_of(const config::RunConfig& run, std::int64_t updates_per_epoch,
                          std::int64_t first_step) {
  if (run.length > 0) {
    return run.units == config::LengthUnit::epoch ? run.length * updates_per_epoch : run.length;
  }
  return run.iterations > 0 ? first_step + run.iterations : 0;
}

Schedule schedule_of(const config::Configuration& configuration, std::int64_t epoch_size,
                     std::int64_t updates) {
  const config::OptimizerConfig& optimizer = configuration.mode.optimizer;
  const std::int64_t batch = configuration.run.minibatch_size;
  const std::int64_t updates_per_epoch = std::max<std::int64_t>(epoch_size / batch, 1);
  // A schedule with an end lasts as long as the run; one without an end has an end far away.
  constexpr std::int64_t kEndless = std::int64_t{1} << 40;
  const std::int64_t epochs =
      ((updates > 0 ? updates : kEndless) + updates_per_epoch - 1) / updates_per_epoch;
  const ScheduleLength length{epochs, updates_per_epoch};
  switch (optimizer.schedule) {
    case config::Schedule::reference:
      return ReferenceSchedule{optimizer.learning_rate, batch, epoch_size};
    case config::Schedule::flat:
      return FlatSchedule{optimizer.learning_rate, length};
    case config::Schedule::warmup_flat_decay:
      return StandardSchedule{optimizer.learning_rate, optimizer.floor_learning_rate,
                              optimizer.decay_epochs, length};
    case config::Schedule::one_cycle:
      return OneCycleSchedule{optimizer.learning_rate, optimizer.minimum_learning_rate,
                              optimizer.floor_learning_rate, optimizer.decay_epochs, length};
  }
  COSMIC_ASSERT(false);
}

}  // namespace cosmic::train
