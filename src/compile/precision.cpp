#include "compile/precision.hpp"

#include "core/error.hpp"

namespace cosmic::compile {

std::string text_of(const LossScaling& scaling) {
  return scaling.is_on()
             ? "loss scaled by " + std::to_string(scaling.initial) + " at first, grown every " +
                   std::to_string(scaling.growth_interval) + " steps"
             : "";
}

void validate(const Precision& precision) {
  const bool rounds = precision.format != NumberFormat::f32;
  COSMIC_REQUIRE(UserError, rounds || precision.weights == Precision::Weights::master,
                 "precision.weights is pure with precision.format f32 (weights are float32 "
                 "anyway); choose bf16, or master weights");
  COSMIC_REQUIRE(UserError, rounds || precision.rounding == Rounding::nearest,
                 "precision.rounding is stochastic with precision.format f32 (in float32 nothing "
                 "is rounded); choose bf16 or f16, or nearest");
  COSMIC_REQUIRE(
      UserError,
      precision.weights == Precision::Weights::master || precision.format != NumberFormat::f16,
      "precision.weights is pure with precision.format f16 (most updates are smaller than the "
      "spacing of f16 numbers, so nothing would be learnt); choose bf16, or master weights");
  COSMIC_REQUIRE(
      UserError, precision.partials != NumberFormat::bf16,
      "precision.partials is bf16 (no machine accumulates products in it); choose f32 or f16");
  const LossScaling& scaling = precision.loss_scaling;
  COSMIC_REQUIRE(
      UserError, !scaling.is_on() || precision.format == NumberFormat::f16,
      "precision.loss_scaling is dynamic with precision.format "
          << to_string(precision.format)
          << " (it has the range of float32, so no gradient is too small for it); choose "
             "f16, or no loss scaling");
  COSMIC_REQUIRE(UserError, scaling.initial >= 1 && scaling.growth_interval >= 1,
                 "precision.loss_scaling begins with "
                     << scaling.initial << " and grows every " << scaling.growth_interval
                     << " steps (neither can be less than 1); 65536 and 2000 are usual");
  COSMIC_REQUIRE(
      UserError, !precision.tf32 || precision.format == NumberFormat::f32,
      "precision.tf32 is true with precision.format "
          << to_string(precision.format)
          << " (tf32 rounds float32 factors of products, and these are narrower); choose "
             "f32, or leave tf32 out");
}

}  // namespace cosmic::compile
