#include "config/checks.hpp"

#include "core/error.hpp"

namespace cosmic::config {
namespace {

void check_training(const Configuration& configuration) {
  const OptimizerConfig& optimizer = configuration.mode.optimizer;
  COSMIC_REQUIRE(UserError, !configuration.mode.quantization_aware,
                 "mode.quantization_aware = true (this program does not support it, and training "
                 "without it would be a different experiment); leave it out");
  COSMIC_REQUIRE(UserError, optimizer.weight_decay == 0 || optimizer.name == OptimizerKind::adamw,
                 "mode.optimizer.weight_decay = "
                     << optimizer.weight_decay
                     << " with mode.optimizer.name = " << model::to_string(optimizer.name)
                     << " (only adamw decays weights); use mode.optimizer.name=adamw");
  COSMIC_REQUIRE(UserError, optimizer.momentum == 0 || optimizer.name == OptimizerKind::sgd,
                 "mode.optimizer.momentum = " << optimizer.momentum
                                              << " with mode.optimizer.name = "
                                              << model::to_string(optimizer.name)
                                              << " (only sgd has it); use mode.optimizer.name=sgd");
  model::validate(optimizer.loss_balance_scheme, optimizer.class_weights);
  const RunConfig& run = configuration.run;
  COSMIC_REQUIRE(UserError, run.iterations > 0 || run.length > 0 || run.max_time.seconds > 0,
                 "run.iterations, run.length and run.max_time are all 0 (the training would never "
                 "end); set one of them");
}

void check_precision(const RunConfig& run) {
  COSMIC_REQUIRE(
      UserError, run.master_weights || run.precision == Precision::bfloat16,
      "run.master_weights = false with run.precision = "
          << model::to_string(run.precision)
          << " (only bfloat16 can do without float32 master weights: in float32 they are the "
             "weights, and in float16 small updates would be lost); use run.precision=bfloat16");
  COSMIC_REQUIRE(UserError,
                 run.rounding == Rounding::nearest || run.precision != Precision::float32,
                 "run.rounding = stochastic with run.precision = float32 (in float32 nothing is "
                 "rounded); use run.precision=bfloat16 or float16");
  COSMIC_REQUIRE(UserError, !run.tf32 || run.precision == Precision::float32,
                 "run.tf32 = true with run.precision = "
                     << model::to_string(run.precision)
                     << " (it rounds float32 factors of products, and these are narrower); use "
                        "run.precision=float32, or leave run.tf32 out");
}

}  // namespace

void check(const Configuration& configuration) {
  COSMIC_REQUIRE(UserError, !configuration.run.id.empty(),
                 "run.id is empty (it names the folder of the run); give one, such as run.id=01");
  COSMIC_REQUIRE(UserError, !configuration.framework.sparse,
                 "framework.sparse = true (this program has no sparse convolutions, and the dense "
                 "network is a different one); leave it out");
  check_precision(configuration.run);
  if (configuration.mode.name == Mode::train) {
    check_training(configuration);
  }
  if (configuration.mode.name != Mode::iotest) {
    model::validate(configuration.network);
  }
}

}  // namespace cosmic::config
