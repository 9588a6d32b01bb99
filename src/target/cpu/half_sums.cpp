#include "target/cpu/half_sums.hpp"

#include <algorithm>

#include "core/rounding_noise.hpp"
#include "target/cpu/kernels/format_rows.hpp"

namespace cosmic::target::cpu {

using graph::kPartialsGroup;

static_assert(kPartialsGroup % kBlock == 0, "a group is a number of channel blocks");

HalfSums::HalfSums(const Memory& memory, graph::ValueId product)
    : format_(graph::partials_of(memory.graph(), product)),
      value_(kNoiseOfPartials | product.index()),
      rounding_(&memory.rounding()) {}

std::optional<HalfSums> HalfSums::of(const Memory& memory, graph::ValueId product) {
  return graph::partials_of(memory.graph(), product) == NumberFormat::f32
             ? std::nullopt
             : std::optional(HalfSums(memory, product));
}

void HalfSums::add(float* sums, const float* group, std::int64_t count, std::int64_t row,
                   std::int64_t first) const {
  if (rounding_->mode == Rounding::nearest) {
    add_row_rounded(sums, group, format_, count);
    return;
  }
  const RowNoise noise{noise_of_row(rounding_->noise, value_, static_cast<std::uint64_t>(row)),
                       static_cast<std::uint32_t>(first)};
  add_row_rounded(sums, group, format_, noise, count);
}

void HalfSums::conv_row(const ConvRow& row, std::int64_t noise_row, float* scratch) const {
  for (std::int64_t block = 0; block < row.output_blocks; ++block) {
    conv_block(row, block, noise_row + block, scratch);
  }
}

void HalfSums::conv_block(const ConvRow& row, std::int64_t block, std::int64_t noise_row,
                          float* scratch) const {
  const std::int64_t count = row.width * kBlock;
  float* const sums = scratch;
  float* const group = scratch + count;
  std::fill_n(sums, count, 0.0F);
  Tap tap{};
  ConvRow products = row;
  products.taps = &tap;
  products.tap_count = 1;
  products.output_blocks = 1;
  products.output = group;
  products.output_pixel_stride = kBlock;
  products.bias = nullptr;
  products.addend = nullptr;
  std::int64_t added = 0;
  for (std::int64_t t = 0; t < row.tap_count; ++t) {
    for (std::int64_t channel = 0; channel < row.input_channels; channel += kPartialsGroup) {
      tap = {row.taps[t].input + channel / kBlock * row.input_block_stride,
             row.taps[t].weights + block * row.weight_block_stride + channel * kBlock};
      products.input_channels = std::min(kPartialsGroup, row.input_channels - channel);
      cpu::conv_row(products);
      add(sums, group, count, noise_row, added);
      added += count;
    }
  }
  const float* const bias = row.bias == nullptr ? nullptr : row.bias + block * kBlock;
  for (std::int64_t pixel = 0; pixel < row.width; ++pixel) {
    const std::int64_t at = block * row.output_block_stride + pixel * row.output_pixel_stride;
    for (std::int64_t lane = 0; lane < kBlock; ++lane) {
      row.output[at + lane] = sums[pixel * kBlock + lane] + (bias == nullptr ? 0 : bias[lane]) +
                              (row.addend == nullptr ? 0 : row.addend[at + lane]);
    }
  }
}

}  // namespace cosmic::target::cpu
