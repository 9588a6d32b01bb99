// Where values enter a program: from the caller, from the state that outlives a step, or as
// constants.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// A tensor the caller hands over at each run.
struct Input {
  TensorType type;

  static constexpr std::string_view name = "input";
  static constexpr Arity arity{0};
  static constexpr Locality locality = Locality::whole;
  static Role role(const Input& op, Roles) {
    return op.type.dtype == DType::f32 && op.type.rank() >= 2 ? Role::image : Role::number;
  }
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("type", type);
  }
  bool operator==(const Input&) const = default;

  static TensorType infer(const Input& op, Types) { return op.type; }
  static Adjoints gradient(const Input&, Builder&, const GradientArgs&) { return {}; }
  static Cost cost(const Input&, Types, const TensorType&) { return {}; }
};

/// A tensor that lives with the executable: a weight, a running statistic, an optimizer's moment.
struct State {
  TensorType type;

  static constexpr std::string_view name = "state";
  static constexpr Arity arity{0};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("type", type);
  }
  bool operator==(const State&) const = default;

  static TensorType infer(const State& op, Types) { return op.type; }
  static Adjoints gradient(const State&, Builder&, const GradientArgs&) { return {}; }
  static Cost cost(const State&, Types, const TensorType&) { return {}; }
};

/// The same number everywhere.
struct Fill {
  TensorType type;
  double value = 0;

  static constexpr std::string_view name = "fill";
  static constexpr Arity arity{0};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("type", type);
    visit("value", value);
  }
  bool operator==(const Fill&) const = default;

  static TensorType infer(const Fill& op, Types) { return op.type; }
  static Adjoints gradient(const Fill&, Builder&, const GradientArgs&) { return {}; }
  static Cost cost(const Fill&, Types in, const TensorType& out) { return {0, traffic(in, out)}; }
};

}  // namespace cosmic::graph
