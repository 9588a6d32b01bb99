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
  /// An image times a weight is an image; an image times a gradient is a weight's gradient.
  static Role role(const MatMul& op, Roles in) {
    return graph::is_image(in[0]) && graph::is_image(in[1]) ? Role::weight_gradient
                                                            : as_strongest_operand(op, in);
  }
  static bool is_weight(std::size_t, Role role) { return !graph::is_image(role); }
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
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
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::operand_and_result;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = by_images_unless_along_them;
  static constexpr auto images = no_images;
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
  static constexpr auto role = always<Role::gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = by_images_unless_along_them;
  static constexpr auto images = no_images;
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
