// Loss scaling. Gradients in float16 are too small for it unless the loss is multiplied by a large
// number first, the scale: it is the gradient of the loss with respect to itself, in place of 1.
// The gradients of weights are divided by it again. Where one of them is not finite the scale was
// too large: that step is not made, and the next has a smaller one.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// How many tensors AllFinite looks at; what looks at more looks at the results of several.
inline constexpr std::size_t kMostChecked = 16;

/// Operands: up to kMostChecked tensors of floats. A scalar: 0 if every number of each is finite,
/// NaN otherwise. So it can guard updates, and its results can be operands of another.
struct AllFinite {
  static constexpr std::string_view name = "all_finite";
  static constexpr Arity arity{1, kMostChecked};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const AllFinite&) const = default;

  static TensorType infer(const AllFinite& op, Types in);
  static Adjoints gradient(const AllFinite&, Builder&, const GradientArgs&) {
    return no_gradient("whether numbers are finite is no number");
  }
  static Cost cost(const AllFinite&, Types in, const TensorType& out) {
    double elements = 0;
    for (const TensorType& type : in) {
      elements += static_cast<double>(type.elements());
    }
    return {elements, traffic(in, out)};
  }
};

/// Operands: x, scale (scalar). x / scale.
struct Unscale {
  static constexpr std::string_view name = "unscale";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const Unscale&) const = default;

  static TensorType infer(const Unscale& op, Types in);
  static Adjoints gradient(const Unscale&, Builder&, const GradientArgs&) {
    return no_gradient("an update is not differentiated");
  }
  static Cost cost(const Unscale&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// No scale is smaller: its reciprocal would not be finite.
inline constexpr double kLeastLossScale = 0x1p-126;

/// Operands: scale (scalar), good steps in a row before this one (i64 scalar), whether all
/// gradients of this one are finite (scalar, AllFinite). The scale of the next step: backoff *
/// scale, but no less than kLeastLossScale, where they are not; growth * scale, if a float can hold
/// it, where this is good step number `interval` in a row; scale otherwise.
struct NextLossScale {
  double growth = 2;
  double backoff = 0.5;
  std::int64_t interval = 2000;

  static constexpr std::string_view name = "next_loss_scale";
  static constexpr Arity arity{3};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("growth", growth);
    visit("backoff", backoff);
    visit("interval", interval);
  }
  bool operator==(const NextLossScale&) const = default;

  static TensorType infer(const NextLossScale& op, Types in);
  static Adjoints gradient(const NextLossScale&, Builder&, const GradientArgs&) {
    return no_gradient("an update is not differentiated");
  }
  static Cost cost(const NextLossScale&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// Operands: good steps in a row (i64 scalar), whether all gradients are finite (scalar,
/// AllFinite). One more where they are, and 0 where they are not or where that makes `interval` of
/// them.
struct GoodSteps {
  std::int64_t interval = 2000;

  static constexpr std::string_view name = "good_steps";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("interval", interval);
  }
  bool operator==(const GoodSteps&) const = default;

  static TensorType infer(const GoodSteps& op, Types in);
  static Adjoints gradient(const GoodSteps&, Builder&, const GradientArgs&) {
    return no_gradient("a counter is not differentiated");
  }
  static Cost cost(const GoodSteps&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

}  // namespace cosmic::graph
