// A kernel's gradient that rides on the gradient of its image. Both need the rows of dy, which are
// seldom stored and expensive to recompute; taking them from the window of the transposed
// convolution while they are there saves evaluating them twice.
#pragma once

#include <cstdint>
#include <optional>

#include "target/cpu/kernel_sums.hpp"
#include "target/cpu/prepared_step.hpp"
#include "target/cpu/row_window.hpp"
#include "target/cpu/winograd_kernel_gradient.hpp"

namespace cosmic::target::cpu {

class KernelGradientRider {
 public:
  /// With Winograd's algorithm, rows come four at a time; else one by one.
  KernelGradientRider(const Memory& memory, const compile::TermView& gradient, int threads,
                      bool winograd);

  const RowWindow& input() const { return input_; }
  void clear(int thread);
  /// Adds what one row of the image contributes; `input` is a view of input(), `dy` one of dy_rows.
  void add_row(int thread, std::int64_t image, std::int64_t row, RowWindow::View& input,
               const RowWindow& dy_rows, RowWindow::View& dy);
  /// Adds what rows [row, row + 4) of dy contribute.
  void add_tile_rows(int thread, std::int64_t image, std::int64_t row, RowWindow::View& input,
                     const RowWindow& dy_rows, RowWindow::View& dy, float* scratch);
  void finish(const Team& team);
  std::int64_t tile_scratch_floats() const { return winograd_ ? winograd_->scratch_floats() : 0; }
  std::int64_t bytes() const { return winograd_ ? winograd_->bytes() : sums_->bytes(); }

 private:
  graph::Window window_;
  graph::FeatureMap kernel_;
  RowSource source_;
  RowWindow input_;
  std::optional<KernelSums> sums_;  // or:
  std::optional<WinogradKernelGradient> winograd_;
  float* result_;
};

}  // namespace cosmic::target::cpu
