#include "target/cpu/kernel_sums.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "target/cpu/kernels/lane_blocks.hpp"

namespace cosmic::target::cpu {

KernelSums::KernelSums(const graph::FeatureMap& kernel, int copies)
    : kernel_(kernel), copies_(copies), memory_(copies * blocks() * block_stride()) {}

void KernelSums::clear(int index, const Range& blocks) {
  std::fill_n(copy(index) + blocks.begin * block_stride(), blocks.size() * block_stride(), 0.0F);
}

void KernelSums::gather(const Range& blocks) {
  const std::int64_t first = blocks.begin * block_stride();
  const std::int64_t count = blocks.size() * block_stride();
  for (int i = 1; i < copies_; ++i) {
    const float* const from = copy(i) + first;
    std::transform(from, from + count, copy(0) + first, copy(0) + first, std::plus<>());
  }
}

void KernelSums::unpack(const Range& blocks_wanted, float* result) const {
  const std::int64_t positions = kernel_.pixels();
  for (std::int64_t block = blocks_wanted.begin; block < blocks_wanted.end; ++block) {
    const std::int64_t lanes = std::min(kBlock, kernel_.batch - block * kBlock);
    float* const to = result + block * kBlock * kernel_.channels * positions;
    if (lanes == kBlock && positions <= kJoinedNumbers) {
      unpack_channels(block, to);
      continue;
    }
    for (std::int64_t c = 0; c < kernel_.channels; ++c) {
      for (std::int64_t k = 0; k < positions; ++k) {
        std::array<float, kBlock> sums;
        add_up(block * block_stride() + (k * kernel_.channels + c) * kBlock, sums.data());
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          to[(lane * kernel_.channels + c) * positions + k] = sums[static_cast<std::size_t>(lane)];
        }
      }
    }
  }
}

// A few channels at a time: added up, they stay in the cache until each filter has taken its own.
void KernelSums::unpack_channels(std::int64_t block, float* to) const {
  std::array<float, kJoinedNumbers * kBlock> joined;
  const std::int64_t positions = kernel_.pixels();
  const std::int64_t together = goes_straight(positions) ? 1 : kJoinedNumbers / positions;
  for (std::int64_t first = 0; first < kernel_.channels; first += together) {
    const std::int64_t channels = std::min(together, kernel_.channels - first);
    for (std::int64_t k = 0; k < positions; ++k) {
      const std::int64_t run = block * block_stride() + (k * kernel_.channels + first) * kBlock;
      for (std::int64_t c = 0; c < channels; ++c) {
        add_up(run + c * kBlock, joined.data() + (c * positions + k) * kBlock);
      }
    }
    part_lanes(to + first * positions, kernel_.channels * positions, joined.data(), kBlock,
               channels * positions);
  }
}

}  // namespace cosmic::target::cpu
