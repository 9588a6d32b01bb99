// Parameter updates. Each op yields the new value of one state; the learning rate is an operand, so
// a schedule never recompiles anything. The other numbers are attributes, or come as a last operand
// that takes their place.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// Operands: moment m, gradient g, and if decay and gain vary, both as f32 [2].
/// decay * m + gain * g^power (power 1 or 2).
struct Moment {
  double decay = 0.9;
  double gain = 0.1;
  std::int64_t power = 1;

  static constexpr std::string_view name = "moment";
  static constexpr Arity arity{2, 3};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("decay", decay);
    visit("gain", gain);
    visit("power", power);
  }
  bool operator==(const Moment&) const = default;

  static TensorType infer(const Moment& op, Types in);
  static Adjoints gradient(const Moment&, Builder&, const GradientArgs&) {
    return no_gradient("an update is not differentiated");
  }
  static Cost cost(const Moment&, Types in, const TensorType& out) {
    return elementwise_cost(3, in, out);
  }
};

/// Operands: parameter, first moment, second moment (both already updated), learning rate (scalar),
/// steps (i64 scalar, already counting this one), and if the constants vary, f32 [6]: beta1,
/// 1 - beta1, beta2, 1 - beta2, epsilon, weight decay. Adam with bias correction; decoupled weight
/// decay.
struct AdamStep {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  static constexpr std::string_view name = "adam_step";
  static constexpr Arity arity{5, 6};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("beta1", beta1);
    visit("beta2", beta2);
    visit("epsilon", epsilon);
    visit("weight_decay", weight_decay);
  }
  bool operator==(const AdamStep&) const = default;

  static TensorType infer(const AdamStep& op, Types in);
  static Adjoints gradient(const AdamStep&, Builder&, const GradientArgs&) {
    return no_gradient("an update is not differentiated");
  }
  static Cost cost(const AdamStep&, Types in, const TensorType& out) {
    return elementwise_cost(6, in, out);
  }
};

/// Operands: parameter, gradient, mean square (already updated), learning rate (scalar), and if
/// epsilon varies, it as f32 [1].
/// p - rate * g / (sqrt(v) + epsilon).
struct RmspropStep {
  double epsilon = 1e-4;

  static constexpr std::string_view name = "rmsprop_step";
  static constexpr Arity arity{4, 5};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("epsilon", epsilon);
  }
  bool operator==(const RmspropStep&) const = default;

  static TensorType infer(const RmspropStep& op, Types in);
  static Adjoints gradient(const RmspropStep&, Builder&, const GradientArgs&) {
    return no_gradient("an update is not differentiated");
  }
  static Cost cost(const RmspropStep&, Types in, const TensorType& out) {
    return elementwise_cost(5, in, out);
  }
};

/// Operands: parameter, direction (gradient or momentum), learning rate (scalar). p - rate * d.
struct SgdStep {
  static constexpr std::string_view name = "sgd_step";
  static constexpr Arity arity{3};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const SgdStep&) const = default;

  static TensorType infer(const SgdStep& op, Types in);
  static Adjoints gradient(const SgdStep&, Builder&, const GradientArgs&) {
    return no_gradient("an update is not differentiated");
  }
  static Cost cost(const SgdStep&, Types in, const TensorType& out) {
    return elementwise_cost(2, in, out);
  }
};

}  // namespace cosmic::graph
