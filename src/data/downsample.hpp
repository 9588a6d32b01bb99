// Shrinks stored planes by a power of two on both axes: a block of pixels becomes one pixel. The
// result is that of larcv3's Downsample process bit by bit: sums are float32, in stored order, and
// an average is over the whole block, pixels that are not stored included.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/event.hpp"

namespace cosmic::data {

/// What becomes of the pixels of a block.
enum class Pooling { average, maximum };

/// The grid after halving both axes `downsample` times; its physical size stays. Throws UserError
/// when an axis cannot be halved that often.
ImageMeta downsampled(const ImageMeta& grid, int downsample);

/// Downsamples planes of one grid. It keeps its memory, so it belongs to one thread.
class Downsampler {
 public:
  Downsampler(const ImageMeta& grid, int downsample);

  const ImageMeta& grid() const { return grid_; }
  /// The grid of the results; the projection is the plane's.
  const ImageMeta& result_grid() const { return result_grid_; }

  /// Replaces `result`, reusing its memory. Throws DataError when the plane has pixels and is not
  /// on the grid, when a pixel is outside of it, or when columns are not in ascending order.
  void downsample(const SparsePlane& plane, Pooling pooling, SparsePlane& result);

  /// The same without a sparse result: calls sink(column, row, value) for every pixel of it, by
  /// ascending id.
  template <class Sink>
  void for_each_pixel(const SparsePlane& plane, Pooling pooling, const Sink& sink) {
    require_on_grid(plane);
    if (halvings_ == 0) {
      copy(plane, sink);
    } else if (pooling == Pooling::average) {
      pool<Pooling::average>(plane, sink);
    } else {
      pool<Pooling::maximum>(plane, sink);
    }
  }

 private:
  /// Stored pixels come column by column, so the division that finds the column of an id is needed
  /// once for each column only.
  class ColumnCursor {
   public:
    explicit ColumnCursor(const ImageMeta& grid) : rows_(grid.rows()), columns_(grid.columns()) {}

    /// Whether the pixel is in another column than the one before. Throws DataError if that is not
    /// a later one of the grid.
    bool enters_column(std::uint64_t id) {
      if (id - first_id_ < rows_) {
        return false;
      }
      const std::uint64_t column = id / rows_;
      if (column >= columns_ || id < first_id_) {
        throw_misplaced(id);
      }
      column_ = column;
      first_id_ = column * rows_;
      return true;
    }
    std::uint64_t column() const { return column_; }
    std::uint64_t row_of(std::uint64_t id) const { return id - first_id_; }

   private:
    [[noreturn]] void throw_misplaced(std::uint64_t id) const;

    std::uint64_t rows_;
    std::uint64_t columns_;
    std::uint64_t column_ = 0;
    std::uint64_t first_id_ = 0;
  };

  static constexpr std::uint64_t kWordBits = 64;

  void require_on_grid(const SparsePlane& plane) const;
  /// Those of a plane that ended with an exception, which must not leak into the next.
  void forget_blocks();

  template <class Sink>
  void copy(const SparsePlane& plane, const Sink& sink) const {
    ColumnCursor cursor(grid_);
    for (std::size_t i = 0; i < plane.ids.size(); ++i) {
      cursor.enters_column(plane.ids[i]);
      sink(cursor.column(), cursor.row_of(plane.ids[i]), plane.values[i]);
    }
  }

  /// Gathers one column of blocks after the other: small enough for the first-level cache.
  template <Pooling kPooling, class Sink>
  void pool(const SparsePlane& plane, const Sink& sink) {
    forget_blocks();
    ColumnCursor cursor(grid_);
    std::uint64_t block_column = 0;
    for (std::size_t i = 0; i < plane.ids.size(); ++i) {
      const std::uint64_t id = plane.ids[i];
      if (cursor.enters_column(id) && cursor.column() >> halvings_ != block_column) {
        hand_over<kPooling>(block_column, sink);
        block_column = cursor.column() >> halvings_;
      }
      add<kPooling>(cursor.row_of(id) >> halvings_, plane.values[i]);
    }
    hand_over<kPooling>(block_column, sink);
  }

  template <Pooling kPooling>
  void add(std::uint64_t block_row, float value) {
    std::uint64_t& word = filled_[block_row / kWordBits];
    const std::uint64_t bit = std::uint64_t{1} << (block_row % kWordBits);
    float& block = blocks_[block_row];
    if constexpr (kPooling == Pooling::average) {
      block += value;
    } else if ((word & bit) == 0 || block < value) {
      block = value;
    }
    word |= bit;
  }

  /// Gives the filled blocks to the sink and empties them.
  template <Pooling kPooling, class Sink>
  void hand_over(std::uint64_t block_column, const Sink& sink) {
    for (std::size_t word = 0; word < filled_.size(); ++word) {
      for (std::uint64_t bits = filled_[word]; bits != 0; bits &= bits - 1) {
        const std::uint64_t row =
            word * kWordBits + static_cast<std::uint64_t>(std::countr_zero(bits));
        float& block = blocks_[row];
        // Blocks hold a power of two of pixels, so this is the division by their number, bit by
        // bit.
        sink(block_column, row, kPooling == Pooling::average ? block * pixel_share_ : block);
        block = 0;
      }
      filled_[word] = 0;
    }
  }

  ImageMeta grid_;
  ImageMeta result_grid_;
  int halvings_;
  float pixel_share_;                  ///< one pixel's part of a block
  std::vector<float> blocks_;          ///< of one column of blocks; 0 where not filled
  std::vector<std::uint64_t> filled_;  ///< one bit for each of them
};

}  // namespace cosmic::data
