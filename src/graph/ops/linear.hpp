// Matrices and soft maxima: what a classifier needs after its convolutions.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

enum class Transposed { no, yes };

std::string to_string(Transposed transposed);

/// a (or its transpose) times b (or its transpose). A linear layer is MatMul(x, weight^T) and a
/// bias.
struct MatMul {
  Transposed a = Transposed::no;
  Transposed b = Transposed::no;

  static constexpr std::string_view name = "matmul";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("a_transposed", a);
    visit("b_transposed", b);
  }
  bool operator==(const MatMul&) const = default;

  static TensorType infer(const MatMul& op, Types in);
  static Adjoints gradient(const MatMul& op, Builder& g, const GradientArgs& args);
  static Cost cost(const MatMul& op, Types in, const TensorType& out);
};

enum class SoftmaxKind { probability, logarithm };

std::string to_string(SoftmaxKind kind);

/// exp(x) / sum exp(x) along `axis`, or its logarithm.
struct Softmax {
  std::int64_t axis = 1;
  SoftmaxKind kind = SoftmaxKind::probability;

  static constexpr std::string_view name = "softmax";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("axis", axis);
    visit("kind", kind);
  }
  bool operator==(const Softmax&) const = default;

  static TensorType infer(const Softmax& op, Types in);
  static Adjoints gradient(const Softmax& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Softmax&, Types in, const TensorType& out) {
    return elementwise_cost(5, in, out);
  }
};

/// Operands: the result y of a Softmax, and dy.
struct SoftmaxGradient {
  std::int64_t axis = 1;
  SoftmaxKind kind = SoftmaxKind::probability;

  static constexpr std::string_view name = "softmax_gradient";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("axis", axis);
    visit("kind", kind);
  }
  bool operator==(const SoftmaxGradient&) const = default;

  static TensorType infer(const SoftmaxGradient& op, Types in);
  static Adjoints gradient(const SoftmaxGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const SoftmaxGradient&, Types in, const TensorType& out) {
    return elementwise_cost(4, in, out);
  }
};

}  // namespace cosmic::graph
