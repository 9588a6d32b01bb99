#include "graph/ops/linear.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

std::int64_t rows(const TensorType& matrix, Transposed transposed) {
  return matrix.dim(transposed == Transposed::yes ? 1 : 0);
}

std::int64_t columns(const TensorType& matrix, Transposed transposed) {
  return matrix.dim(transposed == Transposed::yes ? 0 : 1);
}

Transposed other(Transposed transposed) {
  return transposed == Transposed::yes ? Transposed::no : Transposed::yes;
}

}  // namespace

std::string to_string(Transposed transposed) {
  return transposed == Transposed::yes ? "yes" : "no";
}

std::string to_string(SoftmaxKind kind) {
  return kind == SoftmaxKind::probability ? "probability" : "logarithm";
}

TensorType MatMul::infer(const MatMul& op, Types in) {
  COSMIC_REQUIRE(
      ShapeError,
      in[0].rank() == 2 && in[1].rank() == 2 && columns(in[0], op.a) == rows(in[1], op.b),
      "matmul of " << in[0] << " (transposed: " << to_string(op.a) << ") and " << in[1]
                   << " (transposed: " << to_string(op.b) << ") (inner extents must agree)");
  return {in[0].dtype, {rows(in[0], op.a), columns(in[1], op.b)}};
}

// With A = op(a), B = op(b): dA = dy B^T and dB = A^T dy; a transposed operand takes the transpose.
Adjoints MatMul::gradient(const MatMul& op, Builder& g, const GradientArgs& args) {
  const ValueId a = args.in[0];
  const ValueId b = args.in[1];
  const ValueId da = op.a == Transposed::no
                         ? g.add(MatMul{Transposed::no, other(op.b)}, {args.dy, b})
                         : g.add(MatMul{op.b, Transposed::yes}, {b, args.dy});
  const ValueId db = op.b == Transposed::no
                         ? g.add(MatMul{other(op.a), Transposed::no}, {a, args.dy})
                         : g.add(MatMul{Transposed::yes, op.a}, {args.dy, a});
  return {{da, db}, {}};
}

Cost MatMul::cost(const MatMul& op, Types in, const TensorType& out) {
  return {2.0 * static_cast<double>(out.elements()) * static_cast<double>(columns(in[0], op.a)),
          traffic(in, out)};
}

TensorType Softmax::infer(const Softmax& op, Types in) {
  require_axis(name, in[0], op.axis);
  return in[0];
}

Adjoints Softmax::gradient(const Softmax& op, Builder& g, const GradientArgs& args) {
  return {{g.add(SoftmaxGradient{op.axis, op.kind}, {args.out, args.dy})}, {}};
}

TensorType SoftmaxGradient::infer(const SoftmaxGradient& op, Types in) {
  require_axis(name, in[0], op.axis);
  COSMIC_REQUIRE(ShapeError, in[0] == in[1],
                 "softmax_gradient of " << in[0] << " and " << in[1] << " (types must agree)");
  return in[0];
}

}  // namespace cosmic::graph
