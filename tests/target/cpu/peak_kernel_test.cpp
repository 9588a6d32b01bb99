#include "target/cpu/kernels/peak_kernel.hpp"

#include <gtest/gtest.h>

namespace cosmic::target::cpu {
namespace {

constexpr double kSums = 10;
constexpr double kOperations = 2;

TEST(PeakKernel, sums_start_from_different_numbers_so_that_none_can_be_left_out) {
  // After one round each is half of where it started, plus one.
  float sum = 0;
  const double operations = multiply_add_rounds(1, &sum);
  EXPECT_FLOAT_EQ(sum, (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9) / 2.0F + kSums);
  EXPECT_GE(operations, kSums * kOperations);
}

TEST(PeakKernel, counts_every_round) {
  float sum = 0;
  EXPECT_EQ(multiply_add_rounds(1000, &sum), 1000 * multiply_add_rounds(1, &sum));
}

}  // namespace
}  // namespace cosmic::target::cpu
