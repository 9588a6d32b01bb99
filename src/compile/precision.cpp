#include "compile/precision.hpp"

#include "core/error.hpp"

namespace cosmic::compile {

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
}

}  // namespace cosmic::compile
