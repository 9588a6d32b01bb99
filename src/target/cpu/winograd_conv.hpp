// Four rows of a 3x3 convolution at a time, by Winograd's algorithm: its weights, and the walk over
// the tiles of the rows.
#pragma once

#include <cstdint>

#include "core/support.hpp"
#include "core/threads.hpp"
#include "graph/graph.hpp"
#include "target/cpu/aligned_buffer.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/kernels/winograd_kernels.hpp"

namespace cosmic::target::cpu {

class WinogradConv {
 public:
  /// Is this convolution one the algorithm can do, and faster than the direct way?
  static Support worth(const graph::FeatureMap& kernel, const graph::Window& window,
                       const BlockedImage& input, const BlockedImage& output);

  WinogradConv(const BlockedImage& input, const BlockedImage& output);

  /// Transforms [filter][channel][3][3], or [channel][filter][3][3] read backwards if transposed.
  void prepare(const Team& team, const float* kernel, bool transposed);

  struct Rows {
    /// Pixel 0 of rows r - 1 ... r + 4; null outside the image.
    const float* input[kWinogradWindow] = {};
    std::int64_t input_block_stride = 0;
    float* output[kWinogradTile] = {};  ///< rows r ... r + 3
    std::int64_t output_block_stride = 0;
    const float* bias = nullptr;
    const float* addend[kWinogradTile] = {};  ///< or null
  };
  void run(const Rows& rows, float* scratch) const;

  std::int64_t scratch_floats() const;  ///< per thread
  std::int64_t bytes() const { return weights_.bytes(); }

 private:
  std::int64_t input_channels_;
  std::int64_t input_blocks_;
  std::int64_t filters_;
  std::int64_t output_blocks_;
  std::int64_t tiles_;           // in a row
  std::int64_t tiles_together_;  // that are transformed before they are multiplied
  AlignedBuffer weights_;        // [position][output block][input channel][8]
};

}  // namespace cosmic::target::cpu
