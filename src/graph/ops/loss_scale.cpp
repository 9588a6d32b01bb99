#include "graph/ops/loss_scale.hpp"

#include "core/error.hpp"

namespace cosmic::graph {
namespace {

bool is_one_float(const TensorType& type) {
  return type.dtype == DType::f32 && type.shape.empty();
}

bool is_count(const TensorType& type) {
  return type.dtype == DType::i64 && type.shape.empty();
}

void require_interval(std::string_view op, std::int64_t interval) {
  COSMIC_REQUIRE(ShapeError, interval >= 1,
                 op << " with an interval of " << interval
                    << " steps (the scale grows after some); give 1 or more");
}

}  // namespace

TensorType AllFinite::infer(const AllFinite&, Types in) {
  for (const TensorType& type : in) {
    COSMIC_REQUIRE(ShapeError, type.dtype == DType::f32,
                   "all_finite of " << type << " (only floats can be other than finite)");
  }
  return {DType::f32, {}};
}

TensorType Unscale::infer(const Unscale&, Types in) {
  COSMIC_REQUIRE(ShapeError, in[0].dtype == DType::f32 && is_one_float(in[1]),
                 "unscale of " << in[0] << " by " << in[1]
                               << " (it takes floats, and a scale that is one float)");
  return in[0];
}

TensorType NextLossScale::infer(const NextLossScale& op, Types in) {
  COSMIC_REQUIRE(ShapeError, is_one_float(in[0]) && is_count(in[1]) && is_one_float(in[2]),
                 "next_loss_scale of " << in[0] << " after " << in[1] << " good steps with "
                                       << in[2]
                                       << " (a scale and what all_finite says are one float each, "
                                          "a counter is an i64 scalar)");
  COSMIC_REQUIRE(ShapeError, op.growth > 1 && op.backoff > 0 && op.backoff < 1,
                 "next_loss_scale with growth " << op.growth << " and backoff " << op.backoff
                                                << " (one enlarges, the other does not)");
  require_interval(name, op.interval);
  return in[0];
}

TensorType GoodSteps::infer(const GoodSteps& op, Types in) {
  COSMIC_REQUIRE(ShapeError, is_count(in[0]) && is_one_float(in[1]),
                 "good_steps of " << in[0] << " with " << in[1]
                                  << " (a counter is an i64 scalar, what all_finite says one "
                                     "float)");
  require_interval(name, op.interval);
  return in[0];
}

}  // namespace cosmic::graph
