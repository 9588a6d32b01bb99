#include "target/cpu/row_sink.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/rounding_noise.hpp"

namespace cosmic::target::cpu {

RowSink::RowSink(const Memory& memory, graph::ValueId id)
    : image_(memory.graph().type(id)),
      format_(memory.graph().node(id).format),
      base_(memory.at<std::byte>(id)),
      value_(id.index()),
      rounding_(&memory.rounding()) {
  COSMIC_ASSERT(memory.graph().node(id).layout == graph::Layout::blocked);
}

RowSink::Row RowSink::open(std::int64_t image, std::int64_t row, const Range& blocks,
                           float* scratch) const {
  if (in_place()) {
    return {floats() + image_.offset(image, blocks.begin, row), image_.block_stride()};
  }
  return {scratch, image_.row_floats()};
}

void RowSink::close(const Row& from, std::int64_t image, std::int64_t row,
                    const Range& blocks) const {
  if (in_place()) {
    return;
  }
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
    const std::int64_t offset = image_.offset(image, block, row);
    auto* const to = reinterpret_cast<std::uint16_t*>(base_) + offset;
    const float* const values = from.first + (block - blocks.begin) * from.block_stride;
    if (rounding_->mode == Rounding::nearest) {
      narrow_row(to, values, format_, image_.row_floats());
    } else {
      const auto index = static_cast<std::uint64_t>(offset / image_.row_floats());
      narrow_row(to, values, format_, {noise_of_row(rounding_->noise, value_, index), 0},
                 image_.row_floats());
    }
  }
}

void RowSink::clear(std::int64_t image, std::int64_t row, const Range& blocks) const {
  const std::int64_t bytes = image_.row_floats() * bytes_of(format_);
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
    std::fill_n(base_ + image_.offset(image, block, row) * bytes_of(format_), bytes, std::byte{0});
  }
}

}  // namespace cosmic::target::cpu
