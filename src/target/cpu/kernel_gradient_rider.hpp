// A kernel's gradient that rides on the gradient of its image. Both need the rows of dy, which are
// seldom stored and expensive to recompute; taking them from the window of the transposed
// convolution while they are there saves evaluating them twice.
#pragma once

#include <cstdint>

#include "target/cpu/kernel_sums.hpp"
#include "target/cpu/row_window.hpp"
#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

class KernelGradientRider {
 public:
  KernelGradientRider(const Memory& memory, graph::ValueId id, int threads);

  const RowWindow& input() const { return input_; }
  void clear(int thread) { sums_.clear(thread, {0, sums_.blocks()}); }
  /// Adds what one row of the image contributes; `input` is a view of input(), `dy` one of dy_rows.
  void add(int thread, std::int64_t image, std::int64_t row, RowWindow::View& input,
           const RowWindow& dy_rows, RowWindow::View& dy);
  void finish() { sums_.unpack({0, sums_.blocks()}, result_); }
  std::int64_t bytes() const { return sums_.bytes(); }

 private:
  graph::Window window_;
  graph::FeatureMap kernel_;
  RowSource source_;
  RowWindow input_;
  KernelSums sums_;
  float* result_;
};

}  // namespace cosmic::target::cpu
