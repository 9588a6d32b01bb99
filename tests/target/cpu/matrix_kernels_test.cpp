// Products of matrices against plain loops in double, on every instruction set this machine has.
#include "target/cpu/kernels/matrix_kernels.hpp"

#include <gtest/gtest.h>

#include "target/cpu/kernel_rows.hpp"

namespace cosmic::target::cpu {
namespace {

struct Extents {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t inner;
};

// Around every tile, vector and tail.
constexpr Extents kExtents[] = {{1, 1, 1},   {1, 3, 5},    {3, 16, 15},  {8, 48, 16},
                                {9, 49, 17}, {16, 67, 33}, {13, 7, 100}, {4, 4, 31}};

TEST(MatrixProduct, agrees_with_plain_loops_for_both_orders_of_the_first_matrix) {
  on_every_target([] {
    for (const Extents& e : kExtents) {
      const Row a = grid_row(e.rows * e.inner, 1);
      const Row b = grid_row(e.inner * e.columns, 2);
      for (const bool transposed : {false, true}) {
        Row out(e.rows * e.columns);
        multiply({.a = a.data(),
                  .a_row_stride = transposed ? 1 : e.inner,
                  .a_inner_stride = transposed ? e.rows : 1,
                  .b = b.data(),
                  .b_stride = e.columns,
                  .out = out.data(),
                  .out_stride = e.columns,
                  .rows = e.rows,
                  .columns = e.columns,
                  .inner = e.inner});
        for (std::int64_t r = 0; r < e.rows; ++r) {
          for (std::int64_t c = 0; c < e.columns; ++c) {
            double want = 0;
            for (std::int64_t k = 0; k < e.inner; ++k) {
              want += double{a[transposed ? k * e.rows + r : r * e.inner + k]} *
                      double{b[k * e.columns + c]};
            }
            expect_close(double{out[r * e.columns + c]}, want);
          }
        }
      }
    }
  });
}

TEST(MatrixProduct, updates_every_weight_once_with_the_gradient_that_it_is) {
  constexpr float kDecay = 0.5F;
  constexpr float kGain = 2;
  constexpr float kRate = 0.25F;
  on_every_target([] {
    for (const Extents& e : kExtents) {
      const Row a = grid_row(e.rows * e.inner, 1);
      const Row b = grid_row(e.inner * e.columns, 2);
      const Row old_moment = grid_row(e.rows * e.columns, 3);
      const Row old_weights = grid_row(e.rows * e.columns, 4);
      Row moment = grid_row(e.rows * e.columns, 3);
      Row weights = grid_row(e.rows * e.columns, 4);
      multiply_and_update({.a = a.data(),
                           .a_row_stride = e.inner,
                           .a_inner_stride = 1,
                           .b = b.data(),
                           .b_stride = e.columns,
                           .out_stride = e.columns,
                           .rows = e.rows,
                           .columns = e.columns,
                           .inner = e.inner},
                          {.moment = moment.data(),
                           .new_moment = moment.data(),
                           .weights = weights.data(),
                           .new_weights = weights.data(),
                           .decay = kDecay,
                           .gain = kGain,
                           .rate = kRate});
      for (std::int64_t i = 0; i < e.rows * e.columns; ++i) {
        double gradient = 0;
        for (std::int64_t k = 0; k < e.inner; ++k) {
          gradient +=
              double{a[i / e.columns * e.inner + k]} * double{b[k * e.columns + i % e.columns]};
        }
        const double want = kDecay * double{old_moment[i]} + kGain * gradient;
        expect_close(double{moment[i]}, want);
        expect_close(double{weights[i]}, double{old_weights[i]} - kRate * want);
      }
    }
  });
}

TEST(RowProducts, agree_with_plain_loops) {
  on_every_target([] {
    for (const Extents& e : kExtents) {
      const Row a = grid_row(e.rows * e.inner, 1);
      const Row b = grid_row(e.columns * e.inner, 2);
      Row out(e.rows * e.columns);
      multiply_rows({.a = a.data(),
                     .b = b.data(),
                     .out = out.data(),
                     .out_stride = e.columns,
                     .rows = e.rows,
                     .columns = e.columns,
                     .inner = e.inner});
      for (std::int64_t r = 0; r < e.rows; ++r) {
        for (std::int64_t c = 0; c < e.columns; ++c) {
          double want = 0;
          for (std::int64_t k = 0; k < e.inner; ++k) {
            want += double{a[r * e.inner + k]} * double{b[c * e.inner + k]};
          }
          expect_close(double{out[r * e.columns + c]}, want);
        }
      }
    }
  });
}

// Threads cut a product as they like; the result may not depend on it.
TEST(MatrixProduct, gives_the_same_bits_however_it_is_cut) {
  const Extents e{11, 70, 37};
  const Row a = normal_row(e.rows * e.inner, 1);
  const Row b = normal_row(e.inner * e.columns, 2);
  const MatrixProduct whole{.a = a.data(),
                            .a_row_stride = e.inner,
                            .a_inner_stride = 1,
                            .b = b.data(),
                            .b_stride = e.columns,
                            .out = nullptr,
                            .out_stride = e.columns,
                            .rows = e.rows,
                            .columns = e.columns,
                            .inner = e.inner};
  Row at_once(e.rows * e.columns);
  MatrixProduct product = whole;
  product.out = at_once.data();
  multiply(product);
  for (const std::int64_t cut : {1, 5, 33, 69}) {
    Row in_parts(e.rows * e.columns);
    MatrixProduct left = whole;
    left.out = in_parts.data();
    left.columns = cut;
    multiply(left);
    MatrixProduct right = whole;
    right.b += cut;
    right.out = in_parts.data() + cut;
    right.columns = e.columns - cut;
    multiply(right);
    for (std::int64_t i = 0; i < e.rows * e.columns; ++i) {
      ASSERT_EQ(in_parts[i], at_once[i]) << "cut at column " << cut << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu
