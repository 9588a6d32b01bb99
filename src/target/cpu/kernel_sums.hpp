// The sums of a kernel's gradient while they are gathered: the kernels' own layout, one copy for
// each thread that adds to them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/threads.hpp"
#include "graph/graph.hpp"
#include "target/cpu/aligned_buffer.hpp"
#include "target/cpu/blocked_image.hpp"

namespace cosmic::target::cpu {

class KernelSums {
 public:
  /// `kernel` is [filters, channels, depth, rows, columns].
  KernelSums(const graph::FeatureMap& kernel, int copies);

  std::int64_t blocks() const { return (kernel_.batch + kBlock - 1) / kBlock; }
  /// Floats from one block of filters to the next: [depth][row][column][channel][8].
  std::int64_t block_stride() const { return kernel_.pixels() * kernel_.channels * kBlock; }
  std::int64_t bytes() const { return memory_.bytes(); }

  float* copy(int index) { return memory_.data() + index * blocks() * block_stride(); }
  void clear(int index, const Range& blocks);
  /// Adds the other copies of these blocks of filters to copy 0.
  void gather(const Range& blocks);
  /// Adds up the copies for these blocks of filters and writes them as [filter][channel][position].
  void unpack(const Range& blocks, float* result) const;

 private:
  /// Of all copies, eight numbers from here on.
  void add_up(std::int64_t at, float* sums) const {
    std::array<float, kBlock> eight{};  // not in memory, which the copies might be in
    const std::int64_t stride = blocks() * block_stride();
    const float* from = memory_.data() + at;
    for (int i = 0; i < copies_; ++i, from += stride) {
      for (std::int64_t lane = 0; lane < kBlock; ++lane) {
        eight[static_cast<std::size_t>(lane)] += from[lane];
      }
    }
    std::copy_n(eight.begin(), kBlock, sums);
  }
  void unpack_channels(std::int64_t block, float* to) const;

  graph::FeatureMap kernel_;
  int copies_;
  AlignedBuffer memory_;
};

}  // namespace cosmic::target::cpu
