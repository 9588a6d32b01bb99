#include "compile/precision.hpp"

#include "core/error.hpp"

namespace cosmic::compile {

void validate(const Precision& precision) {
  const bool rounds = precision.format != NumberFormat::f32;
  COSMIC_REQUIRE(UserError, rounds || precision.weights == Precision::Weights::master,
                 "precision.weights is pure with precision.format f32 (there is no other format to "
                 "keep weights in); choose bf16, or leave the weights to master");
  COSMIC_REQUIRE(UserError, rounds || precision.rounding == Rounding::nearest,
                 "precision.rounding is stochastic with precision.format f32 (nothing is rounded "
                 "that could be rounded so); choose bf16 or f16, or nearest");
  COSMIC_REQUIRE(
      UserError,
      precision.weights == Precision::Weights::master || precision.format != NumberFormat::f16,
      "precision.weights is pure with precision.format f16 (an update is mostly smaller "
      "than the step between two f16 numbers or than the smallest of them, so nothing "
      "would be learnt); choose bf16, or master weights");
  COSMIC_REQUIRE(
      UserError, precision.partials != NumberFormat::bf16,
      "precision.partials is bf16 (no machine adds products up in it); choose f32 or f16");
}

}  // namespace cosmic::compile
