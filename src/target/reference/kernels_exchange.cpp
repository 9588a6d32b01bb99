#include "core/number_format.hpp"
#include "graph/ops/exchange_begins.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

/// The reference is one process, which has its own numbers.
Tensor run(const graph::AllReduce& op, Operands in, const graph::TensorType& out) {
  Tensor sum = zeros(out);
  std::vector<graph::TensorType> types;
  for (const Tensor* const part : in) {
    types.push_back(part->type);
  }
  const std::vector<std::int64_t> begins = graph::exchange_begins(types);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    auto at = static_cast<std::size_t>(begins[i]);
    for (const double number : in[i]->data) {
      const double own = op.factor * number;
      sum.data[at++] = op.format == NumberFormat::f32
                           ? own
                           : static_cast<double>(rounded(static_cast<float>(own), op.format));
    }
  }
  return sum;
}

}  // namespace cosmic::target::reference
