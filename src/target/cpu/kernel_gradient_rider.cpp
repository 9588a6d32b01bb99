#include "target/cpu/kernel_gradient_rider.hpp"

#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {

KernelGradientRider::KernelGradientRider(const Memory& memory, const compile::TermView& gradient,
                                         int threads, bool winograd)
    : window_(std::get<graph::ConvKernelGradient>(gradient.node().op).window),
      kernel_(graph::feature_map(gradient.node().type, "a kernel")),
      source_(memory, gradient.operand(0)),
      input_(source_, winograd ? kWinogradWindow : 1, window_.pad[2],
             kernel_.columns - 1 - window_.pad[2]),
      result_(memory.floats(gradient.value())) {
  if (winograd) {
    winograd_.emplace(kernel_, source_.image().columns, threads);
  } else {
    sums_.emplace(kernel_, threads);
  }
}

void KernelGradientRider::clear(int thread) {
  if (winograd_) {
    winograd_->clear(thread);
  } else {
    sums_->clear(thread, {0, sums_->blocks()});
  }
}

void KernelGradientRider::finish(const Team& team) {
  if (winograd_) {
    winograd_->finish(team, result_);
  } else {
    sums_->unpack({0, sums_->blocks()}, result_);
  }
}

// Row r of the image meets row r + pad - k of dy in kernel row k.
void KernelGradientRider::add_row(int thread, std::int64_t image, std::int64_t row,
                                  RowWindow::View& input, const RowWindow& dy_rows,
                                  RowWindow::View& dy) {
  const float* const input_row = input.row(image, row) - window_.pad[2] * input_.pixel_stride();
  const BlockedImage& gradient = dy_rows.source().image();
  for (std::int64_t k = 0; k < kernel_.rows; ++k) {
    const std::int64_t dy_index = row + window_.pad[1] - k;
    if (dy_index < 0 || dy_index >= gradient.rows) {
      continue;
    }
    const float* const dy_row = dy.row(image, dy_index);
    accumulate_kernel_gradient(
        {.rows = 1,
         .kernel_columns = kernel_.columns,
         .input_rows = &input_row,
         .input_channels = kernel_.channels,
         .input_block_stride = input_.block_stride(),
         .input_pixel_stride = input_.pixel_stride(),
         .input_column_stride = input_.pixel_stride(),
         .gradient_rows = &dy_row,
         .gradient_block_stride = dy_rows.block_stride(),
         .output_blocks = sums_->blocks(),
         .width = gradient.columns,
         .kernel_gradient = sums_->copy(thread) + k * kernel_.columns * kernel_.channels * kBlock,
         .kernel_block_stride = sums_->block_stride()});
  }
}

void KernelGradientRider::add_tile_rows(int thread, std::int64_t image, std::int64_t row,
                                        RowWindow::View& input, const RowWindow& dy_rows,
                                        RowWindow::View& dy, float* scratch) {
  WinogradKernelGradient::Rows rows;
  for (std::int64_t i = 0; i < kWinogradWindow; ++i) {
    const std::int64_t input_row = row - 1 + i;
    if (input_row >= 0 && input_row < source_.image().rows) {
      rows.input[i] = input.row(image, input_row);
    }
  }
  rows.input_block_stride = input_.block_stride();
  for (std::int64_t i = 0; i < kWinogradTile; ++i) {
    rows.gradient[i] = dy.row(image, row + i);
  }
  rows.gradient_block_stride = dy_rows.block_stride();
  winograd_->add(thread, rows, scratch);
}

}  // namespace cosmic::target::cpu
