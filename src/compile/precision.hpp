// In which number formats a program keeps its values. Arithmetic is float32, but for sums where
// `partials` says so; what changes is how values are rounded when they are written, and how much
// memory they take.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"

namespace cosmic::compile {

struct Precision {
  enum class Weights {
    master,  ///< kept and updated in float32; what is computed with is their rounded value
    pure,    ///< kept in the format, as are running statistics and the optimizer's state
  };

  /// Of activations and their gradients. Gradients of f16 activations stay f32: what is common
  /// among gradients of an image is less than what f16 can hold.
  NumberFormat format = NumberFormat::f32;
  Weights weights = Weights::master;
  /// Of a training step. What is not trained is rounded to nearest, so that an answer is an answer.
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;  ///< of stochastic rounding
  /// What products of the format's numbers are added up in; see graph::partials_of.
  NumberFormat partials = NumberFormat::f32;

  NumberFormat gradients() const {
    return format == NumberFormat::f16 ? NumberFormat::f32 : format;
  }
  bool operator==(const Precision&) const = default;
};

/// Throws UserError naming the option that cannot be.
void validate(const Precision& precision);

}  // namespace cosmic::compile
