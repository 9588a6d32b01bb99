// Images that are upsampled by two, as kernels read them that have each pixel once. Pixels of rows
// 2 q - 1 and 2 q, and of such columns, are a quad: they lie between the same four of the small
// image. A thread goes down a column of quads, so a pixel of the small image is loaded once for two
// quads, and what lies between two of its columns is computed once for two rows of quads.
#pragma once

#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

/// A column of quads of a channel block. Columns and rows of quads are counted from 0, which
/// reaches beyond the image by half, to the extent of the small image, which does so too.
template <Products kFormat>
class QuadColumn {
 public:
  /// Two pixels of a row of the small image.
  struct Row {
    RawBlock<kFormat> left;
    RawBlock<kFormat> right;
  };

  QuadColumn() = default;
  /// A column beyond the last is as good as that.
  __device__ QuadColumn(const Image& small, const std::byte* plane, int column)
      : plane_(plane),
        columns_(small.columns),
        last_row_(small.rows - 1),
        left_(min(max(column - 1, 0), small.columns - 1)),
        right_(min(column, small.columns - 1)) {}

  /// Row q - 1 of the small image is above quad q, and row q below it, as far as there are such.
  __device__ Row row(int q) const {
    const int first = min(max(q, 0), last_row_) * columns_;
    Row row;
    row.left.load(plane_, first + left_);
    row.right.load(plane_, first + right_);
    return row;
  }

  __device__ void begin(const Row& above) {
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      across(above, w, above_[w]);
    }
  }

  /// Two channels of the pixels of the next quad, row by row. It is called for each w once, and
  /// goes on to the next row with that.
  __device__ void pixels(const Row& row_below, int w, float2 (&of_pixel)[4]) {
    float2 below[2];
    across(row_below, w, below);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float beyond = k / 2 == 0 ? 0.25F : 0.75F;
      const float2 a = above_[w][k % 2];
      const float2 b = below[k % 2];
      of_pixel[k] = {(1 - beyond) * a.x + beyond * b.x, (1 - beyond) * a.y + beyond * b.y};
    }
    above_[w][0] = below[0];
    above_[w][1] = below[1];
  }

 private:
  __device__ static void across(const Row& row, int w, float2 (&between)[2]) {
    const float2 a = row.left.pair(w);
    const float2 b = row.right.pair(w);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const float beyond = k == 0 ? 0.25F : 0.75F;
      between[k] = {(1 - beyond) * a.x + beyond * b.x, (1 - beyond) * a.y + beyond * b.y};
    }
  }

  const std::byte* plane_ = nullptr;
  int columns_ = 0;
  int last_row_ = 0;
  int left_ = 0;
  int right_ = 0;
  float2 above_[kBlock / 2][2];
};

}  // namespace cosmic::target::cuda
