// Forward convolution, a tile of output pixels and blocks at a time: the tile's sums stay in
// registers while all taps and input channels pass by.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "target/cpu/kernels/conv_kernels.hpp"

// Sums live in arrays of vectors, which scalable vectors (SVE, RVV) cannot form. SSSE3 is left out
// to save compile time: such machines run the baseline.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/conv_row.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "target/cpu/kernels/conv_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu::HWY_NAMESPACE {
namespace {

using std::int64_t;

constexpr int kRuntimeStride = 0;
constexpr int kPlainStride = 1;  // one channel, not blocked

// Neighbouring kernel columns read neighbouring pixels. With a single output block the loads of
// input bound the speed, so each is used for a whole run of such taps while it is in a register.
constexpr int kMostTaps = kManyRegisters ? (31 - kAccumulators) / kVectors : 1;

template <int kTaps>
bool taps_come_in_runs(const ConvRow& row) {
  if (row.tap_count % kTaps != 0) {
    return false;
  }
  for (int64_t t = 0; t < row.tap_count; ++t) {
    const Tap* tap = row.taps + t;
    if (t % kTaps != 0 && tap->input != (tap - 1)->input + row.input_pixel_stride) {
      return false;
    }
  }
  return true;
}

// Output pixels [pixel, pixel + kPixels) of kBlocks output blocks, from first tap to stored result.
// Inputs lie kStride floats apart; taps are taken in runs of kTaps. Not inlined, so that each tile
// has the registers to itself.
template <int kBlocks, int kPixels, int kStride, int kTaps>
HWY_NOINLINE void conv_tile(const ConvRow& row, int64_t block, int64_t pixel) {
  constexpr int kSums = kBlocks * kVectors;
  const int64_t stride = kStride == kRuntimeStride ? row.input_pixel_stride : kStride;

  const int64_t tile_offset = block * row.output_block_stride + pixel * row.output_pixel_stride;

  Vector sums[kPixels][kSums];
  for (int b = 0; b < kBlocks; ++b) {
    for (int v = 0; v < kVectors; ++v) {
      const Vector bias = row.bias == nullptr
                              ? hn::Zero(kLanes)
                              : hn::LoadU(kLanes, row.bias + (block + b) * kBlock + v * kLaneCount);
      HWY_UNROLL(32)
      for (int p = 0; p < kPixels; ++p) {
        sums[p][b * kVectors + v] = bias;
      }
    }
  }

  // The output of a large layer is not in any cache. Its lines, two pixels each, have arrived by
  // the time they are stored to.
  for (int b = 0; b < kBlocks; ++b) {
    const float* output = row.output + tile_offset + b * row.output_block_stride;
    HWY_UNROLL(16)
    for (int p = 0; p < kPixels; p += 2) {
      hwy::Prefetch(output + p * row.output_pixel_stride);
    }
  }

  for (int64_t first_tap = 0; first_tap < row.tap_count; first_tap += kTaps) {
    const Tap* taps = row.taps + first_tap;
    const float* input = taps[0].input + pixel * stride;
    int64_t weight = block * row.weight_block_stride;
    for (int64_t left = kStride == kPlainStride ? 1 : row.input_channels; left > 0;
         left -= kBlock) {
      const int64_t channels = std::min(left, kBlock);
      for (int64_t c = 0; c < channels; ++c) {
        Vector weights[kTaps][kSums];
        HWY_UNROLL(8)
        for (int t = 0; t < kTaps; ++t) {
          HWY_UNROLL(8)
          for (int s = 0; s < kSums; ++s) {
            weights[t][s] = hn::LoadU(kLanes, taps[t].weights + weight +
                                                  s / kVectors * row.weight_block_stride +
                                                  s % kVectors * kLaneCount);
          }
        }
        HWY_UNROLL(32)
        for (int i = 0; i < kPixels + kTaps - 1; ++i) {
          const Vector x = hn::Set(kLanes, input[i * stride + c]);
          HWY_UNROLL(8)
          for (int t = 0; t < kTaps; ++t) {
            const int p = i - t;
            if (p < 0 || p >= kPixels) {
              continue;
            }
            HWY_UNROLL(24)
            for (int s = 0; s < kSums; ++s) {
              sums[p][s] = hn::MulAdd(x, weights[t][s], sums[p][s]);
            }
          }
        }
        weight += kBlock;
      }
      input += row.input_block_stride;
    }
  }

  for (int b = 0; b < kBlocks; ++b) {
    for (int v = 0; v < kVectors; ++v) {
      const int64_t offset = tile_offset + b * row.output_block_stride + v * kLaneCount;
      float* output = row.output + offset;
      if (row.addend == nullptr) {
        HWY_UNROLL(32)
        for (int p = 0; p < kPixels; ++p) {
          hn::StoreU(sums[p][b * kVectors + v], kLanes, output + p * row.output_pixel_stride);
        }
      } else {
        const float* addend = row.addend + offset;
        HWY_UNROLL(32)
        for (int p = 0; p < kPixels; ++p) {
          const Vector sum = hn::Add(sums[p][b * kVectors + v],
                                     hn::LoadU(kLanes, addend + p * row.output_pixel_stride));
          hn::StoreU(sum, kLanes, output + p * row.output_pixel_stride);
        }
      }
    }
  }
}

// The pixels from `pixel` to the end of the row, in tiles of kPixels and then smaller ones.
template <int kBlocks, int kPixels, int kStride, int kTaps>
void conv_pixels(const ConvRow& row, int64_t block, int64_t pixel) {
  for (; pixel + kPixels <= row.width; pixel += kPixels) {
    conv_tile<kBlocks, kPixels, kStride, kTaps>(row, block, pixel);
  }
  if constexpr (kPixels > 1) {
    if (pixel < row.width) {
      constexpr auto kFewer = static_cast<int>(std::bit_floor(static_cast<unsigned>(kPixels - 1)));
      conv_pixels<kBlocks, kFewer, kStride, kTaps>(row, block, pixel);
    }
  }
}

template <int kBlocks, int kStride, int kTaps = 1>
void conv_blocks(const ConvRow& row, int64_t block) {
  // An unknown stride needs an address register per few pixels; there are not enough for 24.
  constexpr int kMost = kStride == kRuntimeStride ? 4 : kAccumulators;
  constexpr int kPixels = std::clamp(kAccumulators / (kBlocks * kVectors), 1, kMost);
  conv_pixels<kBlocks, kPixels, kStride, kTaps>(row, block, 0);
}

template <int kStride>
void conv_single_block(const ConvRow& row, int64_t block) {
  constexpr bool kUnitStride = kStride == kBlock || kStride == kPlainStride;
  if constexpr (kUnitStride && kMostTaps >= 5) {
    if (taps_come_in_runs<5>(row)) {
      return conv_blocks<1, kStride, 5>(row, block);
    }
  }
  if constexpr (kUnitStride && kMostTaps >= 3) {
    if (taps_come_in_runs<3>(row)) {
      return conv_blocks<1, kStride, 3>(row, block);
    }
  }
  conv_blocks<1, kStride>(row, block);
}

// Blocks outermost: the weights of one tile's blocks stay cached while the row is walked.
template <int kStride>
void conv_all_blocks(const ConvRow& row) {
  int64_t block = 0;
  while (block < row.output_blocks) {
    const int64_t left = row.output_blocks - block;
    if (left == 1) {
      conv_single_block<kStride>(row, block);
      block += 1;
    } else if (left == 2 || left == 4) {  // 2 + 2 rather than 3 + 1
      conv_blocks<2, kStride>(row, block);
      block += 2;
    } else {
      conv_blocks<3, kStride>(row, block);
      block += 3;
    }
  }
}

void conv_row_on_target(const ConvRow& row) {
  if (row.input_pixel_stride == kBlock) {
    conv_all_blocks<kBlock>(row);
  } else if (row.input_pixel_stride == 2 * kBlock) {
    conv_all_blocks<2 * kBlock>(row);
  } else if (row.input_pixel_stride == kPlainStride && row.input_channels == 1) {
    conv_all_blocks<kPlainStride>(row);
  } else {
    conv_all_blocks<kRuntimeStride>(row);
  }
}

}  // namespace
}  // namespace cosmic::target::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {
namespace {
HWY_EXPORT(conv_row_on_target);
}  // namespace

void conv_row(const ConvRow& row) {
  HWY_DYNAMIC_DISPATCH(conv_row_on_target)(row);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
