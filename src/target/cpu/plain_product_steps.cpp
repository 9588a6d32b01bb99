// Products of matrices: how threads share them.
#include "target/cpu/kernels/matrix_kernels.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/plain_step_kinds.hpp"

namespace cosmic::target::cpu {
namespace {

Team worth(const Team& all, std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  return all.for_work(static_cast<double>(rows * columns * inner));
}

/// x W^T of a linear layer: each thread has some rows of W, and so some columns of the result.
class RowProductsStep final : public SimpleStep {
 public:
  explicit RowProductsStep(const RowProducts& product) : product_(product) {}

  void run(const Team& all, const Scratch&) override {
    const Team team = worth(all, product_.rows, product_.columns, product_.inner);
    team.run([&](int thread) {
      const Range columns = slice_of(product_.columns, thread, team.size());
      RowProducts part = product_;
      part.b += columns.begin * part.inner;
      part.out += columns.begin;
      part.columns = columns.size();
      multiply_rows(part);
    });
  }

 private:
  RowProducts product_;
};

/// The gradients of a linear layer: dy W, with few rows and a large W, and dy^T x, which is as
/// large as W. In both each thread has the rows of W that it has in RowProductsStep, and that it
/// updates in the end: in a small step, weights that changed cores would cost more than the
/// arithmetic.
class MatrixProductStep final : public UnpreparedStep {
 public:
  explicit MatrixProductStep(const MatrixProduct& product) : product_(product) {}

  std::int64_t scratch_bytes() const override {
    return sums_parts(2) ? elements() * static_cast<std::int64_t>(sizeof(float)) : 0;
  }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, product_.rows, product_.columns, product_.inner);
    if (sums_parts(team.size())) {
      sum_parts(team, scratch);
      return;
    }
    // With fewer rows for each thread than this, threads share the columns.
    constexpr std::int64_t kRowsWorthSharing = 16;
    const bool by_rows = product_.rows >= kRowsWorthSharing * team.size();
    team.run([&](int thread) {
      MatrixProduct part = product_;
      if (by_rows) {
        const Range rows = slice_of(product_.rows, thread, team.size());
        part.a += rows.begin * part.a_row_stride;
        part.out += rows.begin * part.out_stride;
        part.rows = rows.size();
      } else {
        const Range columns = slice_of(product_.columns, thread, team.size());
        part.b += columns.begin;
        part.out += columns.begin;
        part.columns = columns.size();
      }
      multiply(part);
    });
  }

 private:
  std::int64_t elements() const { return product_.rows * product_.columns; }
  /// Is the second matrix so much larger than the result that its rows should stay where they are?
  bool sums_parts(int threads) const {
    return threads > 1 && product_.inner >= 2 * product_.rows * threads;
  }

  /// Each thread multiplies its rows of the second matrix; then each adds up some rows of the
  /// results. A thread writes no bytes that another one writes, here or in the next run: fetching
  /// them back from another core takes as long as computing them.
  void sum_parts(const Team& team, const Scratch& scratch) const {
    const auto rows_of = [&](int thread) { return slice_of(product_.rows, thread, team.size()); };
    team.run([&](int thread) {
      const Range inner = slice_of(product_.inner, thread, team.size());
      MatrixProduct part = product_;
      part.b += inner.begin * part.b_stride;
      part.inner = inner.size();
      for (int owner = 0; owner < team.size(); ++owner) {
        const Range rows = rows_of(owner);
        part.a = product_.a + inner.begin * part.a_inner_stride + rows.begin * part.a_row_stride;
        part.rows = rows.size();
        part.out = (owner == thread ? product_.out : scratch.floats(thread)) +
                   rows.begin * product_.columns;
        multiply(part);
      }
    });
    team.run([&](int thread) {
      const Range mine{rows_of(thread).begin * product_.columns,
                       rows_of(thread).end * product_.columns};
      float* const sum = product_.out + mine.begin;
      for (int other = 0; other < team.size(); ++other) {
        if (other != thread) {
          scale_add(sum, sum, scratch.floats(other) + mine.begin, 1, mine.size());
        }
      }
    });
  }

  MatrixProduct product_;  // its rows of out lie one after the other
};

/// Nobody multiplies so in a training step; it need not be fast.
std::unique_ptr<PreparedStep> twice_transposed(const PlainNode& n, std::int64_t inner) {
  return step([out = n.out(), a = n.in(0), b = n.in(1), rows = n.node().type.dim(0),
               columns = n.node().type.dim(1), inner](const Team&) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          sum += a[k * rows + r] * b[c * inner + k];
        }
        out[r * columns + c] = sum;
      }
    }
  });
}

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::MatMul& op, const PlainNode& n) {
  const bool a_transposed = op.a == graph::Transposed::yes;
  const bool b_transposed = op.b == graph::Transposed::yes;
  const std::int64_t rows = n.node().type.dim(0);
  const std::int64_t columns = n.node().type.dim(1);
  const std::int64_t inner = n.type(0).dim(a_transposed ? 0 : 1);
  if (a_transposed && b_transposed) {
    return twice_transposed(n, inner);
  }
  if (b_transposed) {
    return std::make_unique<RowProductsStep>(RowProducts{.a = n.in(0),
                                                         .b = n.in(1),
                                                         .out = n.out(),
                                                         .out_stride = columns,
                                                         .rows = rows,
                                                         .columns = columns,
                                                         .inner = inner});
  }
  return std::make_unique<MatrixProductStep>(
      MatrixProduct{.a = n.in(0),
                    .a_row_stride = a_transposed ? 1 : inner,
                    .a_inner_stride = a_transposed ? rows : 1,
                    .b = n.in(1),
                    .b_stride = columns,
                    .out = n.out(),
                    .out_stride = columns,
                    .rows = rows,
                    .columns = columns,
                    .inner = inner});
}

}  // namespace cosmic::target::cpu
