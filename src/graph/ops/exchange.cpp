#include "graph/ops/exchange.hpp"

#include "core/error.hpp"

namespace cosmic::graph {

TensorType AllReduce::infer(const AllReduce&, Types in) {
  std::int64_t elements = 0;
  for (const TensorType& type : in) {
    COSMIC_REQUIRE(ShapeError, type.dtype == DType::f32,
                   "all_reduce of " << type << " (only floats are added up over processes)");
    elements += type.elements();
  }
  return {DType::f32, {elements}};
}

}  // namespace cosmic::graph
