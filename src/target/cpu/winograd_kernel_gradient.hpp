// The gradient of a 3x3 kernel by Winograd's algorithm, from four rows of dy at a time: sums over
// tiles are gathered for each position, one copy for each thread, and transformed once at the end.
#pragma once

#include <cstdint>

#include "core/threads.hpp"
#include "target/cpu/kernel_sums.hpp"
#include "target/cpu/kernels/winograd_kernels.hpp"

namespace cosmic::target::cpu {

class WinogradKernelGradient {
 public:
  /// For images of `columns` columns. `kernel` is [filters, channels, 1, 3, 3].
  WinogradKernelGradient(const graph::FeatureMap& kernel, std::int64_t columns, int threads);

  struct Rows {
    /// Pixel 0 of rows r - 1 ... r + 4 of the image; null outside it.
    const float* input[kWinogradWindow] = {};
    std::int64_t input_block_stride = 0;
    const float* gradient[kWinogradTile] = {};  ///< pixel 0 of rows r ... r + 3 of dy
    std::int64_t gradient_block_stride = 0;
  };

  void clear(int thread) { sums_.clear(thread, {0, sums_.blocks()}); }
  void add(int thread, const Rows& rows, float* scratch);
  /// Writes the gradient as [filter][channel][3][3].
  void finish(const Team& team, float* result);

  std::int64_t scratch_floats() const;  ///< per thread
  std::int64_t bytes() const { return sums_.bytes() + kernel_sums_.bytes(); }

 private:
  std::int64_t channels_;
  std::int64_t input_blocks_;
  std::int64_t tiles_;           // in a row
  std::int64_t tiles_together_;  // that are transformed before they are multiplied
  KernelSums sums_;              // of positions
  KernelSums kernel_sums_;       // of the nine entries of the kernel
};

}  // namespace cosmic::target::cpu
