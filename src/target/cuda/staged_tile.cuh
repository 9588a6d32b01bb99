// Tiles that come to the chip while others are multiplied: what is stored is copied as it is, by
// itself, and evaluated on the chip when it has arrived. A thread evaluates the pixels that it
// began to copy, so it has to wait for no other thread; a small image that is upsampled is the
// exception.
#pragma once

#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

/// The part of an image of half the size that a tile is made of.
struct SmallPlace {
  int row;
  int column;
  int rows;
  int columns;
};

__device__ inline SmallPlace small_place(const TilePlace& place) {
  const auto first = [](int i) { return i > 0 ? (i - 1) / 2 : 0; };
  return {first(place.row), first(place.column), small_extent(place.rows),
          small_extent(place.columns)};
}

/// A source on the chip. kStaged: it is copied as it is stored, if it can be; otherwise it is
/// evaluated on its way, kUnderWay pixels of a thread at once. kFewRegisters: the kernel has sums
/// in most of them meanwhile.
template <Products kProducts, Source kSource, bool kStaged, int kUnderWay, bool kFewRegisters>
class StagedTile {
 public:
  __device__ StagedTile(const Recipe& recipe, const Pair* table, const TileBuffers& buffers,
                        std::byte* chip)
      : recipe_(recipe), table_(table), buffers_(buffers), chip_(chip) {}

  /// Where tile number n lies, of those that a block goes through.
  __device__ std::byte* tile(int n) const {
    return chip_ + (buffers_.ahead ? n % 2 * buffers_.tile_bytes : 0);
  }

  /// Begins to copy channel blocks [first, first + count) of tile number n.
  __device__ __forceinline__ void begin(const TilePlace& place, int first, int count, int n) const {
    if constexpr (kStaged && kImages > 0) {
      const std::byte* planes[kImages];
      std::uint32_t to[kImages];
#pragma unroll
      for (int k = 0; k < kImages; ++k) {
        planes[k] = plane_of<kProducts>(recipe_.leaf[kFirstLeaf + k].image, place.image, first);
        to[k] = shared_address(k == 0 ? tile(n)
                                      : chip_ + buffers_.beside() + (k - 1) * buffers_.tile_bytes);
      }
      const int pixels = place.rows * place.columns;
      const std::int64_t block_bytes =
          static_cast<std::int64_t>(recipe_.rows) * recipe_.columns * kPixelBytes;
      const bool whole = is_whole(place, recipe_);
      const int first_pixel = place.row * recipe_.columns + place.column;
      const int skipped = recipe_.columns - place.columns;
#pragma unroll 1
      for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
        const int row = static_cast<int>(__umulhi(static_cast<unsigned>(p), place.columns_inverse));
        const bool inside = whole || tile_pixel(place, recipe_, p).inside;
        std::int64_t from =
            inside ? static_cast<std::int64_t>(first_pixel + p + row * skipped) * kPixelBytes : 0;
        int at = p * kUnitBytes;
#pragma unroll 2
        for (int b = 0; b < count; ++b) {
#pragma unroll
          for (int part = 0; part < kParts; ++part) {
#pragma unroll
            for (int k = 0; k < kImages; ++k) {
              begin_copy(to[k] + at, planes[k] + from + part * kUnitBytes, inside);
            }
            at += pixels * kUnitBytes;
          }
          from += block_bytes;
        }
      }
    }
    if constexpr (kStaged && stages_small(kSource)) {
      begin_small(place, first, count);
    }
  }

  /// Makes of what has arrived the numbers that are multiplied. Other threads see them after the
  /// next barrier.
  __device__ __forceinline__ void finish(const TilePlace& place, int first, int count,
                                         int n) const {
    if constexpr (!kStaged || (kImages == 0 && !stages_small(kSource))) {
      load_known_tile<kProducts, kSource, kUnderWay>(recipe_, table_, place, first, count, tile(n));
    } else {
      wait_for_copies();
      if constexpr (kSource == Source::plain) {
        return;
      } else if constexpr (stages_small(kSource)) {
        __syncthreads();
#pragma unroll 1
        for (int b = 0; b < count; ++b) {
          upsample(place, first + b, b, tile(n));
        }
      } else if constexpr (kSource == Source::sum) {
        if (recipe_.formula.kind != Formula::Kind::plain) {
          evaluate_all<SumValue<false>>(place, first, count, tile(n));
        }
      } else if constexpr (kSource == Source::sums) {
        evaluate_all<SumValue<true>>(place, first, count, tile(n));
      } else if constexpr (kSource == Source::gated) {
        evaluate_all<GateValue>(place, first, count, tile(n));
      } else {
        evaluate_all<GradientValue>(place, first, count, tile(n));
      }
    }
  }

 private:
  using Raw = RawBlock<kProducts>;
  static constexpr int kParts = Raw::kParts;
  static constexpr int kPixelBytes = Raw::kBytes;
  static constexpr int kImages = staged_images(kSource);
  static constexpr int kFirstLeaf = stages_small(kSource) ? 1 : 0;
  /// Pixels of a thread that share the numbers per channel.
  static constexpr int kTogether = kFewRegisters || kParts > 1 || kImages > 2 ? 1 : 2;

  __device__ static Raw read(const std::byte* tile, int block, int pixels, int p) {
    Raw raw;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      raw.part[part] = *reinterpret_cast<const Words<4>*>(
          tile + ((kParts * block + part) * pixels + p) * kUnitBytes);
    }
    return raw;
  }

  template <class Value>
  __device__ __forceinline__ void evaluate_all(const TilePlace& place, int first, int count,
                                               std::byte* tile) const {
    const std::byte* const beside = chip_ + buffers_.beside();
    const int pixels = place.rows * place.columns;
    const bool whole = is_whole(place, recipe_);
#pragma unroll 1
    for (int b = 0; b < count; ++b) {
      const Value value(recipe_, table_, first + b);
      for_pixels<kTogether>(pixels, [&](auto together, int p) {
        constexpr int kCount = decltype(together)::value;
        Raw raw[kCount][kImages];
#pragma unroll
        for (int u = 0; u < kCount; ++u) {
#pragma unroll
          for (int k = 0; k < kImages; ++k) {
            raw[u][k] = read(k == 0 ? tile : beside + (k - 1) * buffers_.tile_bytes, b, pixels,
                             p + u * kThreadsOfTile);
          }
        }
#pragma unroll
        for (int w = 0; w < kBlock / 2; ++w) {
          const auto numbers = value.numbers(w);
#pragma unroll
          for (int u = 0; u < kCount; ++u) {
            float2 pairs[kImages];
#pragma unroll
            for (int k = 0; k < kImages; ++k) {
              pairs[k] = raw[u][k].pair(w);
            }
            raw[u][0].set(w, value(numbers, pairs));
          }
        }
#pragma unroll
        for (int u = 0; u < kCount; ++u) {
          raw[u][0].put(tile, b, pixels, p + u * kThreadsOfTile);
        }
      });
      if (!whole) {
        clear_outside<kProducts>(place, recipe_, tile, b);
      }
    }
  }

  __device__ __forceinline__ void begin_small(const TilePlace& place, int first, int count) const {
    const Image& image = recipe_.leaf[0].image;
    const SmallPlace small = small_place(place);
    const int pixels = small.rows * small.columns;
    const std::uint32_t to = shared_address(chip_ + buffers_.small());
    const std::byte* const plane = plane_of<kProducts>(image, place.image, first);
#pragma unroll 1
    for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
      const int row = small.row + p / small.columns;
      const int column = small.column + p % small.columns;
      const bool inside = row < image.rows && column < image.columns;
      std::int64_t from =
          inside ? static_cast<std::int64_t>(row * image.columns + column) * kPixelBytes : 0;
      int at = p * kUnitBytes;
#pragma unroll 1
      for (int b = 0; b < count; ++b) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          begin_copy(to + at, plane + from + part * kUnitBytes, inside);
          at += pixels * kUnitBytes;
        }
        from += static_cast<std::int64_t>(image.rows) * image.columns * kPixelBytes;
      }
    }
  }

  /// A sum whose first image is half as large.
  __device__ __forceinline__ void upsample(const TilePlace& place, int block, int b,
                                           std::byte* tile) const {
    const SmallPlace small = small_place(place);
    const std::byte* const from = chip_ + buffers_.small();
    const int small_pixels = small.rows * small.columns;
    const int pixels = place.rows * place.columns;
    upsample_tile<kProducts, kSource == Source::bilinear_sums>(
        recipe_, table_, place, block, tile, b,
        [&](int row, int column) {
          return read(from, b, small_pixels,
                      (row - small.row) * small.columns + column - small.column);
        },
        [&](int, int, int p) { return read(tile, b, pixels, p); });
  }

  const Recipe& recipe_;
  const Pair* table_;
  const TileBuffers& buffers_;
  std::byte* chip_;
};

}  // namespace cosmic::target::cuda
