#include "core/number_format.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

/// The reference is one process, which has its own numbers.
Tensor run(const graph::AllReduce& op, Operands in, const graph::TensorType& out) {
  Tensor sum = zeros(out);
  std::size_t at = 0;
  for (const Tensor* const part : in) {
    for (const double number : part->data) {
      const double own = op.factor * number;
      sum.data[at++] = op.format == NumberFormat::f32
                           ? own
                           : static_cast<double>(rounded(static_cast<float>(own), op.format));
    }
  }
  return sum;
}

}  // namespace cosmic::target::reference
