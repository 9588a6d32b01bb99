#include "target/cpu/kernel_sums.hpp"

#include <algorithm>

namespace cosmic::target::cpu {

KernelSums::KernelSums(const graph::FeatureMap& kernel, int copies)
    : kernel_(kernel), copies_(copies), memory_(copies * blocks() * block_stride()) {}

void KernelSums::clear(int index, const Range& blocks) {
  std::fill_n(copy(index) + blocks.begin * block_stride(), blocks.size() * block_stride(), 0.0F);
}

void KernelSums::unpack(const Range& blocks_wanted, float* result) const {
  const std::int64_t positions = kernel_.pixels();
  const std::int64_t end = std::min(blocks_wanted.end * kBlock, kernel_.batch);
  for (std::int64_t f = blocks_wanted.begin * kBlock; f < end; ++f) {
    for (std::int64_t c = 0; c < kernel_.channels; ++c) {
      for (std::int64_t k = 0; k < positions; ++k) {
        const std::int64_t at =
            f / kBlock * block_stride() + (k * kernel_.channels + c) * kBlock + f % kBlock;
        float sum = 0;
        for (int i = 0; i < copies_; ++i) {
          sum += memory_.data()[i * blocks() * block_stride() + at];
        }
        result[(f * kernel_.channels + c) * positions + k] = sum;
      }
    }
  }
}

}  // namespace cosmic::target::cpu
