#include "target/cpu/half_product_step.hpp"

#include <algorithm>

#include "target/cpu/half_sums.hpp"
#include "target/cpu/kernels/matrix_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::kPartialsGroup;
using graph::ValueId;

// Rows of the result whose groups are computed together: the scratch of a thread stays small.
constexpr std::int64_t kRowsTogether = 64;

/// Each thread has some columns of the result, which holds the running sums.
class HalfProductStep final : public UnpreparedStep {
 public:
  HalfProductStep(const Memory& memory, ValueId id);

  void run(const Team& team, const Scratch& scratch) override;
  std::int64_t scratch_bytes() const override {
    const std::int64_t floats = (kRowsTogether + kPartialsGroup) * product_.columns;
    return floats * static_cast<std::int64_t>(sizeof(float));
  }

 private:
  void compute(const Range& columns, float* scratch) const;
  /// Rows [first, first + count) of the second factor, cut to some columns; in `room` if they do
  /// not lie so.
  const float* rows_of_b(std::int64_t first, std::int64_t count, const Range& columns,
                         float* room) const;

  HalfSums sums_;
  MatrixProduct product_;
  bool b_transposed_;
};

HalfProductStep::HalfProductStep(const Memory& memory, ValueId id)
    : sums_(HalfSums::of(memory, id).value()) {
  const graph::Node& node = memory.graph().node(id);
  const auto& op = std::get<graph::MatMul>(node.op);
  const bool a_transposed = op.a == graph::Transposed::yes;
  b_transposed_ = op.b == graph::Transposed::yes;
  product_.rows = node.type.dim(0);
  product_.columns = node.type.dim(1);
  product_.inner = memory.graph().type(node.operands[0]).dim(a_transposed ? 0 : 1);
  product_.a = memory.floats(node.operands[0]);
  product_.a_row_stride = a_transposed ? 1 : product_.inner;
  product_.a_inner_stride = a_transposed ? product_.rows : 1;
  product_.b = memory.floats(node.operands[1]);
  product_.out = memory.floats(id);
}

void HalfProductStep::run(const Team& all, const Scratch& scratch) {
  std::fill_n(product_.out, product_.rows * product_.columns, 0.0F);
  const Team team =
      all.for_work(static_cast<double>(product_.rows * product_.columns * product_.inner));
  team.run([&](int thread) {
    compute(slice_of(product_.columns, thread, team.size()), scratch.floats(thread));
  });
}

void HalfProductStep::compute(const Range& columns, float* scratch) const {
  float* const packed = scratch;
  float* const group = scratch + kPartialsGroup * columns.size();
  const std::int64_t groups = (product_.inner + kPartialsGroup - 1) / kPartialsGroup;
  for (std::int64_t g = 0; g < groups; ++g) {
    MatrixProduct part = product_;
    const std::int64_t first = g * kPartialsGroup;
    part.inner = std::min(kPartialsGroup, product_.inner - first);
    part.columns = columns.size();
    part.b = rows_of_b(first, part.inner, columns, packed);
    part.b_stride = b_transposed_ ? columns.size() : product_.columns;
    part.out = group;
    part.out_stride = columns.size();
    for (std::int64_t top = 0; top < product_.rows; top += kRowsTogether) {
      part.rows = std::min(kRowsTogether, product_.rows - top);
      part.a = product_.a + top * part.a_row_stride + first * part.a_inner_stride;
      multiply(part);
      for (std::int64_t r = 0; r < part.rows; ++r) {
        sums_.add(product_.out + (top + r) * product_.columns + columns.begin,
                  group + r * columns.size(), columns.size(), (top + r) * groups + g,
                  columns.begin);
      }
    }
  }
}

const float* HalfProductStep::rows_of_b(std::int64_t first, std::int64_t count,
                                        const Range& columns, float* room) const {
  if (!b_transposed_) {
    return product_.b + first * product_.columns + columns.begin;
  }
  for (std::int64_t c = 0; c < columns.size(); ++c) {
    const float* const column = product_.b + (columns.begin + c) * product_.inner + first;
    for (std::int64_t k = 0; k < count; ++k) {
      room[k * columns.size() + c] = column[k];
    }
  }
  return room;
}

}  // namespace

std::unique_ptr<PreparedStep> make_half_product_step(const Memory& memory,
                                                     const compile::Step& step, const Team&) {
  return std::make_unique<HalfProductStep>(memory, step.leader.value);
}

}  // namespace cosmic::target::cpu
