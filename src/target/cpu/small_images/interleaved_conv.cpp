// Convolutions of interleaved images: sums of several filters and pixels stay in registers while
// all taps and channels pass by.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "target/cpu/small_images/interleaved_kernels.hpp"

// Sums live in arrays of vectors, which scalable vectors (SVE, RVV) cannot form. SSSE3 is left out
// to save compile time: such machines run the baseline.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/small_images/interleaved_conv.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "target/cpu/kernels/conv_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu::HWY_NAMESPACE {
namespace {

using std::int64_t;

constexpr int kMostVectors = kManyRegisters ? 4 : 2;  // of pixels, beside each other

/// Multiply-adds wait four or five cycles for each other, and there are two in a cycle. A tile with
/// fewer sums than that sums up in two chains, one channel in each.
constexpr int chains_of(int sums) {
  return sums < 8 ? 2 : 1;
}

/// Adds a channel to each chain of a tile.
template <int kChains, int kFilters, int kCount>
HWY_INLINE void add_channels(const InterleavedConv& conv, const float* input, int64_t channel,
                             Vector (*sums)[kFilters][kCount]) {
  for (int64_t r = 0; r < conv.kernel_rows; ++r) {
    const float* x = input + channel * conv.input_channel_stride + r * conv.input_row_stride;
    const float* w =
        conv.weights + channel * conv.weight_channel_stride + r * conv.weight_row_stride;
    for (int64_t k = 0; k < conv.kernel_columns; ++k) {
      HWY_UNROLL(2)
      for (int chain = 0; chain < kChains; ++chain) {
        Vector values[kCount];
        HWY_UNROLL(4)
        for (int v = 0; v < kCount; ++v) {
          values[v] = hn::LoadU(kLanes, x + chain * conv.input_channel_stride + v * kLaneCount);
        }
        HWY_UNROLL(6)
        for (int f = 0; f < kFilters; ++f) {
          const Vector weight = hn::Set(kLanes, w[chain * conv.weight_channel_stride + f]);
          HWY_UNROLL(4)
          for (int v = 0; v < kCount; ++v) {
            sums[chain][f][v] = hn::MulAdd(weight, values[v], sums[chain][f][v]);
          }
        }
      }
      x += kBlock;
      w += kFilters;
    }
  }
}

/// One tile: kCount vectors of pixels, kFilters filters.
template <int kFilters, int kCount>
HWY_NOINLINE void conv_tile(const InterleavedConv& conv, const float* input, int64_t offset) {
  constexpr int kChains = chains_of(kFilters * kCount);
  Vector sums[kChains][kFilters][kCount];
  for (int f = 0; f < kFilters; ++f) {
    for (int v = 0; v < kCount; ++v) {
      sums[0][f][v] = hn::Set(kLanes, conv.bias[f]);
      for (int chain = 1; chain < kChains; ++chain) {
        sums[chain][f][v] = hn::Zero(kLanes);
      }
    }
  }
  int64_t channel = 0;
  for (; channel + kChains <= conv.input_channels; channel += kChains) {
    add_channels<kChains>(conv, input, channel, sums);
  }
  if (kChains > 1 && channel < conv.input_channels) {
    add_channels<1>(conv, input, channel, sums);
  }
  const Vector slope = hn::Set(kLanes, conv.slope);
  HWY_UNROLL(6)
  for (int f = 0; f < kFilters; ++f) {
    const int64_t at = offset + f * conv.output_filter_stride;
    HWY_UNROLL(4)
    for (int v = 0; v < kCount; ++v) {
      Vector sum = sums[0][f][v];
      for (int chain = 1; chain < kChains; ++chain) {
        sum = hn::Add(sum, sums[chain][f][v]);
      }
      if (conv.addend != nullptr) {
        sum = hn::Add(sum, hn::LoadU(kLanes, conv.addend + at + v * kLaneCount));
      }
      if (conv.activated != nullptr) {
        const Vector active =
            hn::IfThenElse(hn::Gt(sum, hn::Zero(kLanes)), sum, hn::Mul(slope, sum));
        hn::StoreU(active, kLanes, conv.activated + at + v * kLaneCount);
      }
      if (conv.activated != conv.output) {
        hn::StoreU(sum, kLanes, conv.output + at + v * kLaneCount);
      }
    }
  }
}

/// `vectors` vectors of pixels whose inputs lie side by side.
template <int kFilters, int kCount = kMostVectors>
void conv_run(const InterleavedConv& conv, const float* input, int64_t offset, int64_t vectors) {
  for (; vectors >= kCount; vectors -= kCount) {
    conv_tile<kFilters, kCount>(conv, input, offset);
    input += kCount * kLaneCount;
    offset += kCount * kLaneCount;
  }
  if constexpr (kCount > 1) {
    if (vectors > 0) {
      conv_run<kFilters, kCount / 2>(conv, input, offset, vectors);
    }
  }
}

template <int kFilters>
void conv_filters(const InterleavedConv& conv) {
  if (conv.input_pixel_stride == kBlock) {
    conv_run<kFilters>(conv, conv.input, 0, conv.pixels * kVectors);
    return;
  }
  for (int64_t pixel = 0; pixel < conv.pixels; ++pixel) {
    conv_run<kFilters>(conv, conv.input + pixel * conv.input_pixel_stride, pixel * kBlock,
                       kVectors);
  }
}

void conv_on_target(const InterleavedConv& conv) {
  using Kernel = void (*)(const InterleavedConv&);
  constexpr auto kKernels = []<int... kFilters>(std::integer_sequence<int, kFilters...>) {
    return std::array<Kernel, sizeof...(kFilters)>{conv_filters<kFilters + 1>...};
  }
  (std::make_integer_sequence<int, static_cast<int>(kMostFilters)>{});
  kKernels[static_cast<std::size_t>(conv.filters - 1)](conv);
}

// --- kernel gradient: sums of several filters and kernel columns stay in registers ---

constexpr int kGradientFilters = kManyRegisters ? 4 : 2;
constexpr int kGradientColumns = 5;

template <int kFilters, int kColumns>
HWY_NOINLINE void gradient_tile(const InterleavedKernelGradient& g, int64_t filter,
                                int64_t column) {
  Vector sums[kFilters][kColumns];
  for (auto& of_filter : sums) {
    for (Vector& sum : of_filter) {
      sum = hn::Zero(kLanes);
    }
  }
  // Where the inputs of neighbouring pixels lie side by side, a row is one run of vectors.
  const bool side_by_side = g.input_pixel_stride == kBlock;
  const int64_t runs = side_by_side ? 1 : g.pixels;
  const int64_t vectors = side_by_side ? g.pixels * kVectors : kVectors;
  for (int64_t row = 0; row < g.rows; ++row) {
    for (int64_t run = 0; run < runs; ++run) {
      const float* x =
          g.input + row * g.input_row_stride + run * g.input_pixel_stride + column * kBlock;
      const float* dy = g.gradient + filter * g.gradient_filter_stride +
                        row * g.gradient_row_stride + run * kBlock;
      for (int64_t v = 0; v < vectors; ++v) {
        Vector values[kColumns];
        HWY_UNROLL(5)
        for (int k = 0; k < kColumns; ++k) {
          values[k] = hn::LoadU(kLanes, x + k * kBlock);
        }
        HWY_UNROLL(4)
        for (int f = 0; f < kFilters; ++f) {
          const Vector gradient = hn::LoadU(kLanes, dy + f * g.gradient_filter_stride);
          HWY_UNROLL(5)
          for (int k = 0; k < kColumns; ++k) {
            sums[f][k] = hn::MulAdd(gradient, values[k], sums[f][k]);
          }
        }
        x += kLaneCount;
        dy += kLaneCount;
      }
    }
  }
  for (int f = 0; f < kFilters; ++f) {
    for (int k = 0; k < kColumns; ++k) {
      g.sums[(filter + f) * g.sum_filter_stride + column + k] +=
          hn::GetLane(hn::SumOfLanes(kLanes, sums[f][k]));
    }
  }
}

void gradient_on_target(const InterleavedKernelGradient& g) {
  using Kernel = void (*)(const InterleavedKernelGradient&, int64_t, int64_t);
  constexpr auto kKernels = []<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    return std::array<Kernel, sizeof...(kIndex)>{
        gradient_tile<kIndex / kGradientColumns + 1, kIndex % kGradientColumns + 1>...};
  }
  (std::make_integer_sequence<int, kGradientFilters * kGradientColumns>{});
  for (int64_t filter = 0; filter < g.filters; filter += kGradientFilters) {
    const int64_t filters = std::min<int64_t>(g.filters - filter, kGradientFilters);
    for (int64_t column = 0; column < g.kernel_columns; column += kGradientColumns) {
      const int64_t columns = std::min<int64_t>(g.kernel_columns - column, kGradientColumns);
      kKernels[static_cast<std::size_t>((filters - 1) * kGradientColumns + columns - 1)](g, filter,
                                                                                         column);
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {
namespace {
HWY_EXPORT(conv_on_target);
HWY_EXPORT(gradient_on_target);
}  // namespace

void interleaved_conv(const InterleavedConv& conv) {
  HWY_DYNAMIC_DISPATCH(conv_on_target)(conv);
}
void interleaved_kernel_gradient(const InterleavedKernelGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(gradient_on_target)(gradient);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
