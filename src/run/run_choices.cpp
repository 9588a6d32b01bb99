#include "run/run_choices.hpp"

#include <algorithm>
#include <climits>

#include "comm/alone.hpp"
#include "core/error.hpp"
#include "data/event.hpp"
#include "machine/section_plan.hpp"

namespace cosmic::run {
namespace {

NumberFormat format_of(config::Precision precision) {
  switch (precision) {
    case config::Precision::float32:
      return NumberFormat::f32;
    case config::Precision::bfloat16:
      return NumberFormat::bf16;
    case config::Precision::float16:
    case config::Precision::mixed:
      return NumberFormat::f16;
  }
  COSMIC_ASSERT(false);
}

comm::Exchange exchange_of(config::Exchange exchange) {
  switch (exchange) {
    case config::Exchange::automatic:
      return comm::Exchange::automatic;
    case config::Exchange::device:
      return comm::Exchange::device;
    case config::Exchange::host:
      return comm::Exchange::host;
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
  precision.loss_scaling.kind = run.precision == config::Precision::mixed
                                    ? compile::LossScaling::Kind::dynamic
                                    : compile::LossScaling::Kind::none;
  precision.tf32 = run.tf32;
  return precision;
}

int device_of(const config::RunConfig& run) {
  return static_cast<int>(std::clamp<std::int64_t>(run.device, 0, INT_MAX));
}

comm::Communicator* exchanging(const config::RunConfig& run, comm::Communicator* processes) {
  static comm::Alone alone;
  return processes == nullptr && run.exchange != config::Exchange::automatic ? &alone : processes;
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

bool shows_images(const config::Configuration& configuration) {
  return configuration.run.saver && !configuration.mode.no_summary_images;
}

NumberFormat exchange_format(const config::RunConfig& run) {
  return run.exchange_precision == config::ExchangePrecision::float32 ? NumberFormat::f32
                                                                      : NumberFormat::bf16;
}

session::Options inference_options(const config::Configuration& configuration,
                                   const std::string& target) {
  constexpr double kGigabyte = 1e9;
  session::Options options;
  options.target = target;
  options.machine = configuration.run.machine;
  options.device = device_of(configuration.run);
  options.launching =
      configuration.run.lazy_mode ? machine::Launching::whole_program : machine::Launching::per_op;
  options.threads = static_cast<int>(configuration.run.threads);
  options.precision = precision_of(configuration.run);
  if (!configuration.run.section_plan.empty()) {
    options.sections = machine::read_section_plan(configuration.run.section_plan);
  }
  options.executable = configuration.run.executable;
  options.executable_cache = configuration.run.executable_cache;
  // No disk has more, and a larger one would not fit the number.
  constexpr double kMostGigabytes = 1e9;
  options.executable_cache_bytes = static_cast<std::uint64_t>(
      std::min(configuration.run.executable_cache_gigabytes, kMostGigabytes) * kGigabyte);
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
  options.communicator = exchanging(configuration.run, nullptr);
  options.exchange = exchange_of(configuration.run.exchange);
  options.replica_reduction =
      configuration.run.gradient_reduction == config::GradientReduction::mean
          ? session::Reduction::mean
          : session::Reduction::sum;
  options.exchange_format = exchange_format(configuration.run);
  options.outputs.logits = shows_images(configuration);
  options.recompute = configuration.run.recompute;
  options.weights_average = configuration.mode.weights_average;
  if (configuration.run.stages > 1) {
    options.execution_strategy = session::ExecutionStrategy::pipelined;
    options.stages.automatic = configuration.run.stages;
  }
  return options;
}

session::BatchTypes batch_types(const config::Configuration& configuration,
                                const data::DenseShape& shape) {
  return batch_types(configuration.run.minibatch_size, shape);
}

session::BatchTypes batch_types(std::int64_t events, const data::DenseShape& shape) {
  const graph::Shape extents{events, data::kPlanes, shape.rows, shape.columns};
  return {{graph::DType::f32, extents}, {graph::DType::u8, extents}};
}

}  // namespace cosmic::run
