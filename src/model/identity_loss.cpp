#include "model/identity_loss.hpp"

#include "core/error.hpp"

namespace cosmic::model {

graph::ValueId IdentityLoss::loss(graph::Builder& g, graph::ValueId logits,
                                  graph::ValueId labels) const {
  const graph::Builder::Scope scope(g, "loss");
  const graph::ValueId value = expression_(g, logits, labels);
  const graph::TensorType type = g.type(value);
  COSMIC_REQUIRE(ShapeError, type.dtype == graph::DType::f32,
                 "the expression of the loss is "
                     << type << " (only floats have a gradient); compute it from the logits");
  if (reduction_ == LossReduction::none) {
    COSMIC_REQUIRE(ShapeError, type.shape.empty(),
                   "the expression of the loss is " << type
                                                    << " (without a reduction it must be one "
                                                       "number); choose sum or mean");
    return value;
  }
  // A product with ones is a sum whose gradient every target knows.
  const std::int64_t elements = type.elements();
  const double share =
      reduction_ == LossReduction::mean ? 1.0 / static_cast<double>(elements) : 1.0;
  const graph::ValueId row = g.add(graph::Reshape{{1, elements}}, {value});
  const graph::ValueId weights = g.fill({graph::DType::f32, {elements, 1}}, share);
  return g.add(graph::Reshape{{}}, {g.add(graph::MatMul{}, {row, weights})});
}

}  // namespace cosmic::model
