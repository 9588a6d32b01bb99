#include "target/cpu/row_window.hpp"

#include <algorithm>

namespace cosmic::target::cpu {

RowWindow::RowWindow(const RowSource& source, std::int64_t capacity, std::int64_t left,
                     std::int64_t right)
    : source_(&source),
      capacity_(capacity),
      left_(left),
      right_(right),
      in_place_(source.in_place() && left == 0 && right == 0) {
  const BlockedImage& image = source.image();
  row_floats_ = (left + image.columns + right) * source.pixel_stride();
  // All rows of a block lie together: rows of a wide image in blocks side by side would start a
  // multiple of 4 KiB apart and push each other out of the first-level cache.
  block_stride_ = in_place_ ? image.block_stride() : capacity * row_floats_;
}

std::int64_t RowWindow::scratch_floats() const {
  if (in_place_) {
    return 0;
  }
  return held_floats() + rows_floats() + round_up(source_->scratch_floats(), kFloatsPerLine);
}

RowWindow::View::View(const RowWindow& window, float* scratch) : window_(window) {
  held_ = reinterpret_cast<std::int64_t*>(scratch);
  rows_ = scratch + window.held_floats();
  evaluation_ = rows_ + window.rows_floats();
  if (!window.in_place_) {
    std::fill_n(held_, window.capacity_, -1);
    std::fill_n(rows_, window.rows_floats(), 0.0F);
  }
}

const float* RowWindow::View::row(std::int64_t image, std::int64_t row) {
  const RowSource& source = *window_.source_;
  if (window_.in_place_) {
    return source.row(image, 0, row);
  }
  const std::int64_t slot = row % window_.capacity_;
  float* const first = rows_ + slot * window_.row_floats_ + window_.left_ * source.pixel_stride();
  const std::int64_t key = image * source.image().rows + row;
  if (held_[slot] != key) {
    held_[slot] = key;
    for (std::int64_t block = 0; block < source.image().blocks(); ++block) {
      source.write(first + block * window_.block_stride_, image, block, row, 0,
                   source.image().columns, evaluation_);
    }
  }
  return first;
}

}  // namespace cosmic::target::cpu
