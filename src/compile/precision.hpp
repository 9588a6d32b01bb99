// In which number formats a program keeps its values. Arithmetic is float32, but for sums where
// `partials` says so; what changes is how values are rounded when they are written, and how much
// memory they take.
#pragma once

#include <cstdint>
#include <string>

#include "core/number_format.hpp"

namespace cosmic::compile {

/// Whether the loss is multiplied by a number before the backward pass, and the gradients of
/// weights divided by it. Then gradients of images fit into f16. A step whose gradients are not
/// finite is not made, and the number is halved; after `growth_interval` good steps in a row it is
/// doubled.
struct LossScaling {
  enum class Kind { none, dynamic };

  Kind kind = Kind::none;
  std::int64_t initial = 65536;
  std::int64_t growth_interval = 2000;

  bool is_on() const { return kind == Kind::dynamic; }
  bool operator==(const LossScaling&) const = default;
};

struct Precision {
  enum class Weights {
    master,  ///< kept and updated in float32; what is computed with is their rounded value
    pure,    ///< kept in the format, as are running statistics and the optimizer's state
  };

  /// Of activations and their gradients. Gradients of f16 activations stay f32 unless the loss is
  /// scaled: what is common among gradients of an image is less than what f16 can hold.
  NumberFormat format = NumberFormat::f32;
  Weights weights = Weights::master;
  /// Of a training step. What is not trained is rounded to nearest, so that an answer is an answer.
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;  ///< of stochastic rounding
  /// What products of the format's numbers are added up in; see graph::partials_of.
  NumberFormat partials = NumberFormat::f32;
  LossScaling loss_scaling = {};  ///< of a training step with f16
  /// Are factors of f32 products rounded to tf32, on a machine with product units for it? See
  /// graph::takes_tf32.
  bool tf32 = false;

  NumberFormat gradients() const {
    return format == NumberFormat::f16 && !loss_scaling.is_on() ? NumberFormat::f32 : format;
  }
  bool operator==(const Precision&) const = default;
};

/// "loss scaled by 65536 at first, grown every 2000 steps"; empty without it. For settings of
/// passes.
std::string text_of(const LossScaling& scaling);

/// Throws UserError naming the option that cannot be.
void validate(const Precision& precision);

}  // namespace cosmic::compile
