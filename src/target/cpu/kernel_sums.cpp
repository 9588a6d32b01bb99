#include "target/cpu/kernel_sums.hpp"

#include <algorithm>
#include <functional>

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

// A few channels at a time, so that what is read in runs and written in steps stays in the cache.
void KernelSums::unpack(const Range& blocks_wanted, float* result) const {
  constexpr std::int64_t kTogether = 16;
  const std::int64_t positions = kernel_.pixels();
  for (std::int64_t block = blocks_wanted.begin; block < blocks_wanted.end; ++block) {
    const std::int64_t lanes = std::min(kBlock, kernel_.batch - block * kBlock);
    float* const to = result + block * kBlock * kernel_.channels * positions;
    for (std::int64_t first = 0; first < kernel_.channels; first += kTogether) {
      const std::int64_t end = std::min(first + kTogether, kernel_.channels);
      for (std::int64_t k = 0; k < positions; ++k) {
        for (std::int64_t c = first; c < end; ++c) {
          const std::int64_t at = block * block_stride() + (k * kernel_.channels + c) * kBlock;
          for (std::int64_t lane = 0; lane < lanes; ++lane) {
            float sum = 0;
            for (int i = 0; i < copies_; ++i) {
              sum += memory_.data()[i * blocks() * block_stride() + at + lane];
            }
            to[(lane * kernel_.channels + c) * positions + k] = sum;
          }
        }
      }
    }
  }
}

}  // namespace cosmic::target::cpu
