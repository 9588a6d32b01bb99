#include "graph/ops/optimizer.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

/// The first `count` operands are shaped as the parameter; the learning rate is a scalar.
const TensorType& require_update(std::string_view op, Types in, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    COSMIC_REQUIRE(ShapeError, in[i] == in[0],
                   op << " of " << in[0] << " with " << in[i] << " (types must agree)");
  }
  COSMIC_REQUIRE(ShapeError, in.size() <= count || in[count].shape.empty(),
                 op << " with learning rate " << in[count] << " (it must be a scalar)");
  return in[0];
}

void require_constants(std::string_view op, Types in, std::size_t at, std::int64_t count) {
  COSMIC_REQUIRE(ShapeError, in.size() <= at || in[at] == (TensorType{DType::f32, {count}}),
                 op << " with constants " << in[at] << " (it takes " << count << " numbers)");
}

}  // namespace

TensorType Moment::infer(const Moment& op, Types in) {
  COSMIC_REQUIRE(ShapeError, op.power == 1 || op.power == 2,
                 "moment of power " << op.power << " (optimizers use the first and the second)");
  require_constants(name, in, 2, 2);
  return require_update(name, in.first(2), 2);
}

TensorType AdamStep::infer(const AdamStep&, Types in) {
  COSMIC_REQUIRE(ShapeError, in[4] == (TensorType{DType::i64, {}}),
                 "adam_step with steps " << in[4] << " (a counter is an i64 scalar)");
  require_constants(name, in, 5, 6);
  return require_update(name, in, 3);
}

TensorType RmspropStep::infer(const RmspropStep&, Types in) {
  require_constants(name, in, 4, 1);
  return require_update(name, in, 3);
}

TensorType SgdStep::infer(const SgdStep&, Types in) {
  return require_update(name, in, 2);
}

}  // namespace cosmic::graph
