#include "graph/ops/exchange.hpp"

#include "core/error.hpp"
#include "graph/ops/exchange_begins.hpp"

namespace cosmic::graph {

TensorType AllReduce::infer(const AllReduce&, Types in) {
  for (const TensorType& type : in) {
    COSMIC_REQUIRE(ShapeError, type.dtype == DType::f32,
                   "all_reduce of " << type << " (only floats are added up over processes)");
  }
  return {DType::f32, {exchange_begins(in).back() + in.back().elements()}};
}

std::vector<std::int64_t> exchange_begins(Types operands) {
  std::vector<std::int64_t> begins;
  std::int64_t end = 0;
  for (const TensorType& type : operands) {
    begins.push_back((end + kExchangedMultiple - 1) / kExchangedMultiple * kExchangedMultiple);
    end = begins.back() + type.elements();
  }
  return begins;
}

}  // namespace cosmic::graph
