// Work on blocked images, a vector of 8 channels at a time, that evaluates what it reads. A body
// has a recipe, and says what one thread does with item i of a slice; `table` has the recipe's
// numbers for that slice.
#pragma once

#include "target/cuda/kernels/conv_tile.hpp"

namespace cosmic::target::cuda {

/// body(table, slice, i) for each slice of the images and 0 <= i < items. All images of a slice are
/// in the same groups.
template <class Body>
struct PixelMap {
  Body body;
  int slices = 1;
  int events_of_slice = 1;
  std::int64_t items = 0;  ///< of a slice
};

/// A place in a batch of images: i counts [image][block][row][column].
struct VectorPlace {
  Place place;
  int block;
};

COSMIC_DEVICE inline VectorPlace vector_place(std::int64_t i, int blocks, int rows, int columns) {
  const Division row = divide(i, columns);
  const Division block = divide(row.whole, rows);
  const Division image = divide(block.whole, blocks);
  return {{image.whole, static_cast<int>(block.rest), static_cast<int>(row.rest)},
          static_cast<int>(image.rest)};
}

/// Writes a value. i: a vector of it.
struct EvaluateBody {
  Recipe value;
  Image out;
  std::int64_t images_of_slice;

  COSMIC_DEVICE const Recipe& recipe() const { return value; }
  COSMIC_DEVICE void operator()(const Pair* table, int slice, std::int64_t i) const {
    const int blocks = (out.channels + kBlock - 1) / kBlock;
    VectorPlace at = vector_place(i, blocks, out.rows, out.columns);
    at.place.image += slice * images_of_slice;
    float numbers[kBlock];
    evaluate<kBlock>(value, table, at.place, at.block * kBlock, nullptr, numbers);
    const std::int64_t pixel =
        static_cast<std::int64_t>(at.place.row) * out.columns + at.place.column;
    write_vector(out, at.place.image, at.block, pixel, numbers);
  }
};

/// Depth slices included; each has blocks of its own along the second axis of a grid.
inline constexpr int kMostImages = 65535;

/// Are all leaves of a recipe stored images in blocks of this format?
inline bool is_stored_in(const Recipe& recipe, Format format) {
  for (int i = 0; i < recipe.leaves; ++i) {
    const Leaf& leaf = recipe.leaf[i];
    if (leaf.kind != Leaf::Kind::stored || leaf.image.format != format ||
        leaf.image.lanes != kBlock) {
      return false;
    }
  }
  return recipe.formula.kind != Formula::Kind::none;
}

/// The gradient of a pooling: dy goes to the first largest pixel of each window. i: a window, also
/// one that the image does not fill, whose pixels get nothing.
struct MaxPoolGradientPixelsBody {
  /// Of a block of threads, in the kernel that is_known() is for.
  static constexpr int kWindowsOfThread = 4;
  static constexpr int kWindowsOfBlock = kWindowsOfThread * kThreadsOfSums;

  Recipe x;
  Image dy;
  Image dx;
  Extents window;
  Extents windows;  ///< of an image
  int events_of_slice;
  PixelSums sums;  ///< of dx, that are taken along; or none
  SumsGeometry sums_geometry;

  COSMIC_DEVICE const Recipe& recipe() const { return x; }
  /// Is there a kernel that knows what it reads? Windows of 2 x 2 in images that they fill.
  bool is_known() const {
    return is_stored_in(x, dx.format) && dx.lanes == kBlock && dx.images <= kMostImages &&
           x.depth == dy.depth && dy.format == dx.format && dy.lanes == kBlock &&
           (x.formula.kind == Formula::Kind::plain || x.formula.kind == Formula::Kind::sum) &&
           !x.formula.is_long && window.depth == 1 && window.rows == 2 && window.columns == 2 &&
           dx.rows == 2 * dy.rows && dx.columns == 2 * dy.columns;
  }
  /// Does that kernel take such sums along? Of dx where the pooled image was activated, times that
  /// image or another.
  bool takes_along(const PixelSums& of) const {
    return is_known() && of.kind == PixelSums::Kind::products && of.gates_result() &&
           is_stored_in(of.v, dx.format) && of.v.leaf[0].image.base == dx.base &&
           of.v.leaf[1].image.base == x.leaf[0].image.base && of.u.exists() &&
           is_stored_in(of.u, dx.format) && of.u.formula.kind == Formula::Kind::plain &&
           !of.u.pools();
  }
  COSMIC_DEVICE int blocks_of_plane() const {
    return ceil_of(dy.rows * dy.columns, kWindowsOfBlock);
  }
  COSMIC_DEVICE void operator()(const Pair* table, int slice, std::int64_t i) const {
    const int blocks = (dx.channels + kBlock - 1) / kBlock;
    const VectorPlace at = vector_place(i, blocks, windows.rows, windows.columns);
    const Division depth = divide(at.place.image, windows.depth);
    const std::int64_t event = slice * static_cast<std::int64_t>(events_of_slice) + depth.whole;
    const int corner_depth = static_cast<int>(depth.rest) * window.depth;
    const int corner_row = at.place.row * window.rows;
    const int corner_column = at.place.column * window.columns;
    const bool filled =
        depth.rest < dy.depth && at.place.row < dy.rows && at.place.column < dy.columns;
    float largest[kBlock];
    int where[kBlock];
    float gradient[kBlock];
    if (filled) {
      int pixel = 0;
      for (int d = 0; d < window.depth; ++d) {
        for (int r = 0; r < window.rows; ++r) {
          for (int c = 0; c < window.columns; ++c, ++pixel) {
            float numbers[kBlock];
            const Place from{event * dx.depth + corner_depth + d, corner_row + r,
                             corner_column + c};
            evaluate_pixel<kBlock>(x, table, from, at.block * kBlock, nullptr, numbers);
            COSMIC_UNROLLED
            for (int k = 0; k < kBlock; ++k) {
              if (pixel == 0 || numbers[k] > largest[k]) {
                largest[k] = numbers[k];
                where[k] = pixel;
              }
            }
          }
        }
      }
      read_stored<kBlock>(dy, event * dy.depth + depth.rest, at.place.row, at.place.column,
                          at.block * kBlock, gradient);
    }
    int pixel = 0;
    for (int d = 0; d < window.depth; ++d) {
      for (int r = 0; r < window.rows; ++r) {
        for (int c = 0; c < window.columns; ++c, ++pixel) {
          if (corner_depth + d >= dx.depth || corner_row + r >= dx.rows ||
              corner_column + c >= dx.columns) {
            continue;
          }
          float numbers[kBlock];
          COSMIC_UNROLLED
          for (int k = 0; k < kBlock; ++k) {
            numbers[k] = filled && where[k] == pixel ? gradient[k] : 0.0F;
          }
          const std::int64_t place =
              static_cast<std::int64_t>(corner_row + r) * dx.columns + corner_column + c;
          write_vector(dx, event * dx.depth + corner_depth + d, at.block, place, numbers);
        }
      }
    }
  }
};

/// How much of small pixel `at` is in pixel i of an image twice as large.
COSMIC_DEVICE inline float share_of(int i, int at, int extent) {
  const BilinearTaps taps = taps_of(i, extent);
  return (taps.low == at ? 1 - taps.beyond : 0.0F) + (taps.high == at ? taps.beyond : 0.0F);
}

/// The adjoint of an upsampling: each small pixel gathers what it gave. i: a vector of dx.
struct UpsampleGradientPixelsBody {
  Recipe dy;
  Image dx;
  Extents factor;
  bool bilinear;
  int events_of_slice;

  COSMIC_DEVICE const Recipe& recipe() const { return dy; }
  COSMIC_DEVICE void operator()(const Pair* table, int slice, std::int64_t i) const {
    const int blocks = (dx.channels + kBlock - 1) / kBlock;
    const VectorPlace at = vector_place(i, blocks, dx.rows, dx.columns);
    const Division depth = divide(at.place.image, dx.depth);
    const std::int64_t event = slice * static_cast<std::int64_t>(events_of_slice) + depth.whole;
    const std::int64_t to = event * dx.depth + depth.rest;
    float sum[kBlock] = {};
    const int more = bilinear ? 1 : 0;
    for (int d = 0; d < factor.depth; ++d) {
      const std::int64_t from = event * dy.depth + depth.rest * factor.depth + d;
      for (int r = at.place.row * factor.rows - more; r < (at.place.row + 1) * factor.rows + more;
           ++r) {
        if (r < 0 || r >= dy.rows) {
          continue;
        }
        const float row_share = bilinear ? share_of(r, at.place.row, dx.rows) : 1.0F;
        for (int c = at.place.column * factor.columns - more;
             c < (at.place.column + 1) * factor.columns + more; ++c) {
          if (c < 0 || c >= dy.columns) {
            continue;
          }
          const float share =
              row_share * (bilinear ? share_of(c, at.place.column, dx.columns) : 1.0F);
          float numbers[kBlock];
          evaluate_pixel<kBlock>(dy, table, {from, r, c}, at.block * kBlock, nullptr, numbers);
          COSMIC_UNROLLED
          for (int k = 0; k < kBlock; ++k) {
            sum[k] += share * numbers[k];
          }
        }
      }
    }
    const std::int64_t pixel =
        static_cast<std::int64_t>(at.place.row) * dx.columns + at.place.column;
    write_vector(dx, to, at.block, pixel, sum);
  }
};

/// i: a float that is kept in 32 bits and has a number of the format.
struct RoundBody {
  float* values;
  Format format;

  COSMIC_DEVICE void operator()(std::int64_t i) const { values[i] = rounded_to(values[i], format); }
};

}  // namespace cosmic::target::cuda
