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
