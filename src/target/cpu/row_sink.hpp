// Where the rows of a stored image are written. A float32 image is written in place. A narrow one
// is computed in scratch, a row at a time, and rounded on its way to memory.
#pragma once

#include <cstdint>

#include "core/threads.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/kernels/format_rows.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

class RowSink {
 public:
  RowSink(const Memory& memory, graph::ValueId id);

  const BlockedImage& image() const { return image_; }
  /// Rows are computed where they will stay.
  bool in_place() const { return format_ == NumberFormat::f32; }
  /// Scratch for one row of so many channel blocks.
  std::int64_t scratch_floats(std::int64_t blocks) const {
    return in_place() ? 0 : blocks * image_.row_floats();
  }

  /// A row under construction.
  struct Row {
    float* first = nullptr;  ///< pixel 0 of the first of its channel blocks
    std::int64_t block_stride = 0;
  };
  Row open(std::int64_t image, std::int64_t row, const Range& blocks, float* scratch) const;
  /// The row is as it should be; in place there is nothing left to do.
  void close(const Row& from, std::int64_t image, std::int64_t row, const Range& blocks) const;

  void clear(std::int64_t image, std::int64_t row, const Range& blocks) const;

  /// Only if in_place().
  float* floats() const { return reinterpret_cast<float*>(base_); }

 private:
  BlockedImage image_;
  NumberFormat format_;
  std::byte* base_;
  std::uint64_t value_;
  const RunRounding* rounding_;
};

}  // namespace cosmic::target::cpu
