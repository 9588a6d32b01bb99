// Kernel gradient, a tile of kernel entries at a time: the tile's sums stay in registers while the
// pixels of a chunk of rows pass by.
#include <algorithm>
#include <cstdint>

#include "target/cpu/kernels/conv_kernels.hpp"

// Sums live in arrays of vectors, which scalable vectors (SVE, RVV) cannot form. SSSE3 is left out
// to save compile time: such machines run the baseline.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/conv_kernel_gradient.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "target/cpu/kernels/conv_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu::HWY_NAMESPACE {
namespace {

using std::int64_t;

// A tile's sums: kBlocks output blocks times kFeeds places in the input times kChannels channels. A
// feed is another kernel column or, for a 1x1 kernel, another channel block. Several output blocks
// share a broadcast input, which saves the most loads; a lone block has feeds share its gradient.
constexpr int kMostChannels = std::min<int>(kBlock, kAccumulators / kVectors);
constexpr int kMostBlocks = std::max(1, kAccumulators / (kMostChannels * kVectors));
constexpr int kMostFeeds = kMostBlocks;
static_assert(kMostBlocks == 1 || kMostBlocks == 3);
static_assert(kMostChannels == 8 || kMostChannels == 4 || kMostChannels == 1);

// Rows are taken in chunks of about this many pixels, so that the input and gradient of a chunk are
// re-read from near caches, and yet the kernel gradient is seldom touched.
constexpr int64_t kChunkPixels = 512;

// What all tiles of some rows, output blocks and one kernel row have in common.
struct GradientPass {
  const KernelGradientRows& rows;
  int64_t first_row;
  int64_t last_row;
  int64_t kernel_row;
  int64_t gradient_offset;  ///< of the first output block
  float* kernel_gradient;   ///< of the first output block and this kernel row
};

struct Feeds {
  int64_t count;
  int64_t input_stride;
  int64_t kernel_stride;
};

void add_to(float* sum, Vector addend) {
  hn::StoreU(hn::Add(hn::LoadU(kLanes, sum), addend), kLanes, sum);
}

// Not inlined, so that each tile has the registers to itself.
template <int kBlocks, int kFeeds, int kChannels>
HWY_NOINLINE void gradient_tile(const GradientPass& pass, int64_t input_offset, const Feeds& feeds,
                                float* kernel_gradient) {
  constexpr int kSums = kBlocks * kVectors;
  const KernelGradientRows& rows = pass.rows;
  const auto kernel_place = [&](int f, int c, int s) {
    return kernel_gradient + s / kVectors * rows.kernel_block_stride + f * feeds.kernel_stride +
           c * kBlock + s % kVectors * kLaneCount;
  };
  Vector sums[kFeeds][kChannels][kSums];
  HWY_UNROLL(3)
  for (int f = 0; f < kFeeds; ++f) {
    HWY_UNROLL(8)
    for (int c = 0; c < kChannels; ++c) {
      HWY_UNROLL(24)
      for (int s = 0; s < kSums; ++s) {
        sums[f][c][s] = hn::Zero(kLanes);
        // A large kernel gradient lies in a far cache; it will be needed after the rows below.
        hwy::Prefetch(kernel_place(f, c, s));
      }
    }
  }
  for (int64_t r = pass.first_row; r < pass.last_row; ++r) {
    const float* input = rows.input_rows[r * rows.row_stride + pass.kernel_row];
    if (input == nullptr) {
      continue;
    }
    const float* places[kFeeds];
    for (int f = 0; f < kFeeds; ++f) {
      places[f] = input + input_offset + f * feeds.input_stride;
    }
    const float* gradient = rows.gradient_rows[r] + pass.gradient_offset;
    for (int64_t x = 0; x < rows.width; ++x) {
      Vector g[kSums];
      HWY_UNROLL(24)
      for (int s = 0; s < kSums; ++s) {
        g[s] = hn::LoadU(kLanes, gradient + s / kVectors * rows.gradient_block_stride +
                                     s % kVectors * kLaneCount);
      }
      HWY_UNROLL(3)
      for (int f = 0; f < kFeeds; ++f) {
        HWY_UNROLL(8)
        for (int c = 0; c < kChannels; ++c) {
          const Vector in = hn::Set(kLanes, places[f][c]);
          HWY_UNROLL(24)
          for (int s = 0; s < kSums; ++s) {
            sums[f][c][s] = hn::MulAdd(in, g[s], sums[f][c][s]);
          }
        }
        places[f] += rows.input_pixel_stride;
      }
      gradient += rows.gradient_pixel_stride;
    }
  }
  HWY_UNROLL(3)
  for (int f = 0; f < kFeeds; ++f) {
    HWY_UNROLL(8)
    for (int c = 0; c < kChannels; ++c) {
      HWY_UNROLL(24)
      for (int s = 0; s < kSums; ++s) {
        add_to(kernel_place(f, c, s), sums[f][c][s]);
      }
    }
  }
}

template <int kBlocks, int kChannels>
void gradient_feeds(const GradientPass& pass, int64_t input_offset, const Feeds& feeds,
                    float* kernel_gradient) {
  int64_t feed = 0;
  const auto tile = [&]<int kFeeds>() {
    gradient_tile<kBlocks, kFeeds, kChannels>(pass, input_offset + feed * feeds.input_stride, feeds,
                                              kernel_gradient + feed * feeds.kernel_stride);
    feed += kFeeds;
  };
  if constexpr (kBlocks == 1 && kMostFeeds == 3) {
    while (feeds.count - feed == 3 || feeds.count - feed > 4) {
      tile.template operator()<3>();
    }
    while (feeds.count - feed >= 2) {
      tile.template operator()<2>();
    }
  }
  while (feed < feeds.count) {
    tile.template operator()<1>();
  }
}

// All kernel columns of the channels from `channel` on, kChannels at a time and then fewer, so that
// the padded lanes of the last block are neither read nor written.
template <int kBlocks, int kChannels>
void gradient_channels(const GradientPass& pass, int64_t channel) {
  const KernelGradientRows& rows = pass.rows;
  if (kChannels == kBlock && rows.kernel_columns == 1) {
    const Feeds blocks{rows.input_channels / kBlock, rows.input_block_stride, kBlock * kBlock};
    gradient_feeds<kBlocks, kChannels>(pass, 0, blocks, pass.kernel_gradient);
    channel = blocks.count * kBlock;
  }
  const Feeds columns{rows.kernel_columns, rows.input_column_stride, rows.input_channels * kBlock};
  for (; channel + kChannels <= rows.input_channels; channel += kChannels) {
    const int64_t input_offset = channel / kBlock * rows.input_block_stride + channel % kBlock;
    gradient_feeds<kBlocks, kChannels>(pass, input_offset, columns,
                                       pass.kernel_gradient + channel * kBlock);
  }
  if constexpr (kChannels > 1) {
    gradient_channels<kBlocks, kChannels / 2>(pass, channel);
  }
}

// One plain channel whose kernel columns overlap: input scalar i meets gradient pixel i - column,
// so kPixels neighbouring gradients share their inputs. Each pixel has its own sums, because
// kColumns alone are too few to hide the latency of the additions.
template <int kColumns>
HWY_NOINLINE void plain_gradient_tile(const GradientPass& pass, int64_t first_column) {
  constexpr int kPixels = std::clamp(kAccumulators / (kColumns * kVectors), 1, 4);
  const KernelGradientRows& rows = pass.rows;
  Vector sums[kPixels][kColumns][kVectors];
  for (auto& pixel : sums) {
    for (auto& column : pixel) {
      for (Vector& sum : column) {
        sum = hn::Zero(kLanes);
      }
    }
  }
  for (int64_t r = pass.first_row; r < pass.last_row; ++r) {
    const float* input = rows.input_rows[r * rows.row_stride + pass.kernel_row];
    if (input == nullptr) {
      continue;
    }
    input += first_column;
    const float* gradient = rows.gradient_rows[r] + pass.gradient_offset;
    int64_t x = 0;
    for (; x + kPixels <= rows.width; x += kPixels) {
      Vector g[kPixels][kVectors];
      HWY_UNROLL(24)
      for (int p = 0; p < kPixels; ++p) {
        HWY_UNROLL(8)
        for (int v = 0; v < kVectors; ++v) {
          g[p][v] = hn::LoadU(kLanes, gradient + v * kLaneCount);
        }
        gradient += rows.gradient_pixel_stride;
      }
      HWY_UNROLL(24)
      for (int i = 0; i < kPixels + kColumns - 1; ++i) {
        const Vector in = hn::Set(kLanes, input[x + i]);
        HWY_UNROLL(24)
        for (int p = 0; p < kPixels; ++p) {
          const int column = i - p;
          if (column < 0 || column >= kColumns) {
            continue;
          }
          HWY_UNROLL(8)
          for (int v = 0; v < kVectors; ++v) {
            sums[p][column][v] = hn::MulAdd(in, g[p][v], sums[p][column][v]);
          }
        }
      }
    }
    for (; x < rows.width; ++x) {
      HWY_UNROLL(8)
      for (int c = 0; c < kColumns; ++c) {
        const Vector in = hn::Set(kLanes, input[x + c]);
        HWY_UNROLL(8)
        for (int v = 0; v < kVectors; ++v) {
          const Vector g = hn::LoadU(kLanes, gradient + v * kLaneCount);
          sums[0][c][v] = hn::MulAdd(in, g, sums[0][c][v]);
        }
      }
      gradient += rows.gradient_pixel_stride;
    }
  }
  for (int c = 0; c < kColumns; ++c) {
    for (int v = 0; v < kVectors; ++v) {
      for (int p = 1; p < kPixels; ++p) {
        sums[0][c][v] = hn::Add(sums[0][c][v], sums[p][c][v]);
      }
      add_to(pass.kernel_gradient + (first_column + c) * kBlock + v * kLaneCount, sums[0][c][v]);
    }
  }
}

template <int kColumns>
void plain_gradient_columns(const GradientPass& pass, int64_t column) {
  for (; column + kColumns <= pass.rows.kernel_columns; column += kColumns) {
    plain_gradient_tile<kColumns>(pass, column);
  }
  if constexpr (kColumns > 1) {
    plain_gradient_columns<kColumns - 1>(pass, column);
  }
}

// Adds what rows [first, last) contribute to output blocks [block, block + kBlocks).
template <int kBlocks>
void gradient_blocks(const KernelGradientRows& rows, int64_t first, int64_t last, int64_t block) {
  const bool plain =
      rows.input_channels == 1 && rows.input_pixel_stride == 1 && rows.input_column_stride == 1;
  float* kernel_gradient = rows.kernel_gradient + block * rows.kernel_block_stride;
  for (int64_t k = 0; k < rows.kernel_rows; ++k) {
    GradientPass pass{.rows = rows,
                      .first_row = first,
                      .last_row = last,
                      .kernel_row = k,
                      .gradient_offset = block * rows.gradient_block_stride,
                      .kernel_gradient = kernel_gradient};
    if (plain) {
      for (int b = 0; b < kBlocks; ++b) {
        plain_gradient_columns<5>(pass, 0);
        pass.gradient_offset += rows.gradient_block_stride;
        pass.kernel_gradient += rows.kernel_block_stride;
      }
    } else {
      gradient_channels<kBlocks, kMostChannels>(pass, 0);
    }
    kernel_gradient += rows.kernel_columns * rows.input_channels * kBlock;
  }
}

void accumulate_kernel_gradient_on_target(const KernelGradientRows& rows) {
  const int64_t chunk_rows = std::max<int64_t>(1, kChunkPixels / std::max<int64_t>(1, rows.width));
  for (int64_t first = 0; first < rows.rows; first += chunk_rows) {
    const int64_t last = std::min(first + chunk_rows, rows.rows);
    int64_t block = 0;
    if constexpr (kMostBlocks == 3) {
      // 2 + 2 rather than 3 + 1 at the end.
      for (; rows.output_blocks - block == 3 || rows.output_blocks - block > 4; block += 3) {
        gradient_blocks<3>(rows, first, last, block);
      }
      for (; rows.output_blocks - block >= 2; block += 2) {
        gradient_blocks<2>(rows, first, last, block);
      }
    }
    for (; block < rows.output_blocks; ++block) {
      gradient_blocks<1>(rows, first, last, block);
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {
namespace {
HWY_EXPORT(accumulate_kernel_gradient_on_target);
}  // namespace

void accumulate_kernel_gradient(const KernelGradientRows& rows) {
  HWY_DYNAMIC_DISPATCH(accumulate_kernel_gradient_on_target)(rows);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
