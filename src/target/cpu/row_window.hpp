// The rows of an image that a convolution kernel covers, kept ready: zero-padded left and right,
// evaluated if they are not stored. Neighbouring output rows share most of their input rows, so a
// ring remembers which rows it holds and fills in only what is new.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "target/cpu/row_source.hpp"

namespace cosmic::target::cpu {

/// What a window of rows looks like; shared by all threads.
class RowWindow {
 public:
  /// `capacity` rows are held at once; `left` and `right` pixels of zeros surround each.
  RowWindow(const RowSource& source, std::int64_t capacity, std::int64_t left, std::int64_t right);

  /// Rows are read in place: stored as floats, and without padding.
  bool in_place() const { return in_place_; }
  /// Floats from one channel block of a row to the next.
  std::int64_t block_stride() const { return block_stride_; }
  std::int64_t pixel_stride() const { return source_->pixel_stride(); }
  /// Scratch for one thread.
  std::int64_t scratch_floats() const;
  std::int64_t capacity() const { return capacity_; }
  const RowSource& source() const { return *source_; }

  /// One thread's view. Constructing it clears the padding.
  class View {
   public:
    View(const RowWindow& window, float* scratch);
    /// Pixel 0, channel block 0 of a row of an image. At most `capacity` distinct rows of the same
    /// image stay valid: those with the largest indices asked for.
    const float* row(std::int64_t image, std::int64_t row);

   private:
    const RowWindow& window_;
    float* rows_;
    float* evaluation_;
    std::int64_t* held_;  // image * rows + row of each slot, or -1
  };

 private:
  std::int64_t rows_floats() const {
    return round_up(source_->image().blocks() * capacity_ * row_floats_, kFloatsPerLine);
  }
  std::int64_t held_floats() const { return round_up(capacity_ * 2, kFloatsPerLine); }

  const RowSource* source_;
  std::int64_t capacity_;
  std::int64_t left_;
  std::int64_t right_;
  bool in_place_;
  std::int64_t block_stride_;
  std::int64_t row_floats_;
};

/// Depth of the deepest kernel; each of its slices has a window of its own.
inline constexpr std::int64_t kMostKernelDepth = 8;
using RowViews = std::array<std::optional<RowWindow::View>, kMostKernelDepth>;

}  // namespace cosmic::target::cpu
