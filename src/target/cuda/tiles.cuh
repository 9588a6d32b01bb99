// Bringing pixels to the chip, evaluated on the way, and joining the sums that blocks leave.
#pragma once

#include <type_traits>

#include "target/cuda/tensor_core.cuh"

namespace cosmic::target::cuda {

inline constexpr int kThreadsOfTile = kWarpsOfTile * 32;

/// Numbers per channel of the group that an image of the batch is in. It is a call because it is
/// long and happens once.
__device__ __noinline__ inline void fill_pairs(const Recipe& recipe, int event, Pair* table,
                                               int pairs) {
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    table[i] = table_entry(recipe, event, i);
  }
}
/// Returns what follows. This is no call, so that the compiler sees that it is on the chip, too:
/// numbers that could be anywhere take longer to read, and twice the registers to point at.
__device__ __forceinline__ Pair* fill_table(const Recipe& recipe, int event, Pair* table) {
  const int pairs = recipe.table_pairs();
  fill_pairs(recipe, event, table, pairs);
  return table + pairs;
}

/// A part of an image on the chip: [unit][row][column], 16 bytes each.
struct TilePlace {
  std::int64_t image;  ///< or -1: all of it is outside
  int row;             ///< of the first pixel, which may lie outside
  int column;
  int rows;
  int columns;
  unsigned columns_inverse;  ///< ceil(2^32 / columns)
};

/// Tiles of the images of a slice, one after the other: across, down, then the next image.
struct TileWalk {
  int across;
  int down;
  int image;

  template <class Geometry>
  __device__ TileWalk(const Geometry& g, int tile, int first_image)
      : across(tile % g.tiles_across),
        down(tile / g.tiles_across % g.tiles_down),
        image(first_image + tile / (g.tiles_across * g.tiles_down)) {}

  template <class Geometry>
  __device__ void next(const Geometry& g) {
    if (++across == g.tiles_across) {
      across = 0;
      if (++down == g.tiles_down) {
        down = 0;
        ++image;
      }
    }
  }
};

__device__ inline unsigned inverse_of(int n) {
  return static_cast<unsigned>((0x100000000ULL + static_cast<unsigned>(n) - 1) /
                               static_cast<unsigned>(n));
}

/// 8 channels of a pixel as they are stored in the format of the factors, two at a time.
template <Products kProducts>
struct RawBlock {
  static constexpr bool kNarrow = channels_per_unit(kProducts) == kBlock;
  static constexpr int kParts = kNarrow ? 1 : 2;
  static constexpr int kBytes = kParts * kUnitBytes;
  Words<4> part[kParts];

  __device__ void load(const std::byte* plane, int pixel) {
    const auto* const from = reinterpret_cast<const Words<4>*>(plane) + pixel * kParts;
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      part[k] = from[k];
    }
  }
  __device__ void store(std::byte* plane, int pixel) const {
    auto* const to = reinterpret_cast<Words<4>*>(plane) + pixel * kParts;
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      to[k] = part[k];
    }
  }
  __device__ float2 pair(int w) const {
    if constexpr (kProducts == Products::bf16) {
      const std::uint32_t word = part[0].word[w];
      return {float_of(word << 16), float_of(word & 0xffff0000U)};
    } else if constexpr (kProducts == Products::f16) {
      const std::uint32_t word = part[0].word[w];
      return {from_f16(static_cast<std::uint16_t>(word)),
              from_f16(static_cast<std::uint16_t>(word >> 16))};
    } else {
      return {float_of(part[w / 2].word[w % 2 * 2]), float_of(part[w / 2].word[w % 2 * 2 + 1])};
    }
  }
  __device__ void set(int w, float2 numbers) {
    if constexpr (kNarrow) {
      const float both[2] = {numbers.x, numbers.y};
      part[0].word[w] = pack<2>(both, format_of(kProducts)).word[0];
    } else {
      part[w / 2].word[w % 2 * 2] = bits_of(numbers.x);
      part[w / 2].word[w % 2 * 2 + 1] = bits_of(numbers.y);
    }
  }
  /// As pixel p of a tile whose blocks have `pixels` pixels.
  __device__ void put(std::byte* tile, int block, int pixels, int p) const {
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      *reinterpret_cast<Words<4>*>(tile + ((kParts * block + k) * pixels + p) * kUnitBytes) =
          part[k];
    }
  }
  /// The same; zeros where the image has none.
  __device__ void put(std::byte* tile, int block, int pixels, int p, bool inside) const {
    RawBlock kept = *this;
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        kept.part[k].word[i] = inside ? part[k].word[i] : 0U;
      }
    }
    kept.put(tile, block, pixels, p);
  }
};

/// Two neighbouring channels' pairs.
struct PairOfPairs {
  Pair x;
  Pair y;
};
__device__ inline PairOfPairs pairs_at(const Pair* pairs, int w) {
  const float4 four = reinterpret_cast<const float4*>(pairs)[w];
  return {{four.x, four.y}, {four.z, four.w}};
}

/// A gradient where an image was activated.
__device__ inline float2 gated(float2 a, float2 b, const PairOfPairs& gate, float slope) {
  return {b.x * gate.x.s + gate.x.t > 0 ? a.x : slope * a.x,
          b.y * gate.y.s + gate.y.t > 0 ? a.y : slope * a.y};
}

/// A pixel of a tile, and whether there is one in the image.
struct TilePixel {
  int row;
  int column;
  bool inside;
};

__device__ inline TilePixel tile_pixel(const TilePlace& place, const Recipe& recipe, int p) {
  const int r = static_cast<int>(__umulhi(static_cast<unsigned>(p), place.columns_inverse));
  TilePixel pixel{place.row + r, place.column + p - r * place.columns, false};
  pixel.inside = p < place.rows * place.columns && place.image >= 0 &&
                 static_cast<unsigned>(pixel.row) < static_cast<unsigned>(recipe.rows) &&
                 static_cast<unsigned>(pixel.column) < static_cast<unsigned>(recipe.columns);
  return pixel;
}

/// The first byte of a block of an image, whose blocks are whole. Blocks, and pixels of one, are
/// counted in 32 bits: products of 64 would be a large part of what a tile costs.
template <Products kProducts>
__device__ inline const std::byte* plane_of(const Image& image, std::int64_t at, int block) {
  const auto blocks = static_cast<unsigned>((image.channels + kBlock - 1) / kBlock);
  const unsigned number = static_cast<unsigned>(at) * blocks + static_cast<unsigned>(block);
  const unsigned pixels = static_cast<unsigned>(image.rows) * static_cast<unsigned>(image.columns);
  return static_cast<const std::byte*>(image.base) +
         static_cast<std::uint64_t>(number) * pixels * RawBlock<kProducts>::kBytes;
}

/// Does all of a tile lie in the image?
__device__ inline bool is_whole(const TilePlace& place, const Recipe& recipe) {
  return place.image >= 0 && place.row >= 0 && place.column >= 0 &&
         place.row + place.rows <= recipe.rows && place.column + place.columns <= recipe.columns;
}

/// Zeros where a tile reaches beyond the image. A thread clears the pixels that it has loaded.
template <Products kProducts>
__device__ __forceinline__ void clear_outside(const TilePlace& place, const Recipe& recipe,
                                              std::byte* tile, int tile_block) {
  const int pixels = place.rows * place.columns;
#pragma unroll 1
  for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
    if (!tile_pixel(place, recipe, p).inside) {
      RawBlock<kProducts>().put(tile, tile_block, pixels, p);
    }
  }
}

/// A formula of kImages different stored images. What lies outside is loaded from anywhere in the
/// image, and cleared in the end.
template <Products kProducts, int kImages, class Value>
class StoredPixels {
 public:
  __device__ StoredPixels(const Recipe& recipe, const Pair* table, const TilePlace& place,
                          int block)
      : value_(recipe, table, block),
        first_(place.row * recipe.columns + place.column),
        skipped_(recipe.columns - place.columns),
        columns_inverse_(place.columns_inverse),
        pixels_(place.rows * place.columns),
        last_(recipe.rows * recipe.columns - 1) {
#pragma unroll
    for (int k = 0; k < kImages; ++k) {
      planes_[k] =
          plane_of<kProducts>(recipe.leaf[k].image, place.image < 0 ? 0 : place.image, block);
    }
  }

  /// kCount pixels of a thread, from p on, which are all there; they are on their way at once, and
  /// numbers per channel are read once for all of them.
  template <int kCount>
  __device__ __forceinline__ void load(int p, std::byte* tile, int tile_block) const {
    RawBlock<kProducts> raw[kCount][kImages];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const int i = p + u * kThreadsOfTile;
      const int row = static_cast<int>(__umulhi(static_cast<unsigned>(i), columns_inverse_));
      const int at = min(max(first_ + i + row * skipped_, 0), last_);
#pragma unroll
      for (int k = 0; k < kImages; ++k) {
        raw[u][k].load(planes_[k], at);
      }
    }
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      const auto numbers = value_.numbers(w);
#pragma unroll
      for (int u = 0; u < kCount; ++u) {
        float2 pairs[kImages];
#pragma unroll
        for (int k = 0; k < kImages; ++k) {
          pairs[k] = raw[u][k].pair(w);
        }
        raw[u][0].set(w, value_(numbers, pairs));
      }
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      raw[u][0].put(tile, tile_block, pixels_, p + u * kThreadsOfTile);
    }
  }

 private:
  Value value_;
  const std::byte* planes_[kImages];
  int first_;
  int skipped_;  ///< pixels from the end of a row to the next
  unsigned columns_inverse_;
  int pixels_;
  int last_;
};

/// All pixels of a tile: `some` takes as many of a thread as fit, kUnderWay at a time, and the rest
/// one by one, so that no warp computes pixels that are not there.
template <int kUnderWay, class Some>
__device__ __forceinline__ void for_pixels(int pixels, const Some& some) {
  constexpr int kStep = kUnderWay * kThreadsOfTile;
  const int together = pixels / kStep * kStep;
#pragma unroll 1
  for (int p = threadIdx.x; p < together; p += kStep) {
    some(std::integral_constant<int, kUnderWay>{}, p);
  }
  if constexpr (kUnderWay > 1) {
#pragma unroll 1
    for (int p = together + threadIdx.x; p < pixels; p += kThreadsOfTile) {
      some(std::integral_constant<int, 1>{}, p);
    }
  } else {
    const int p = together + threadIdx.x;
    if (p < pixels) {
      some(std::integral_constant<int, 1>{}, p);
    }
  }
}

/// kUnderWay pixels of a thread are on their way at once.
template <Products kProducts, int kUnderWay, int kImages, class Value>
__device__ __forceinline__ void load_stored(const Recipe& recipe, const Pair* table,
                                            const TilePlace& place, int block, std::byte* tile,
                                            int tile_block) {
  const StoredPixels<kProducts, kImages, Value> pixels(recipe, table, place, block);
  for_pixels<kUnderWay>(place.rows * place.columns, [&](auto count, int p) {
    pixels.template load<decltype(count)::value>(p, tile, tile_block);
  });
  if (!is_whole(place, recipe)) {
    clear_outside<kProducts>(place, recipe, tile, tile_block);
  }
}

/// A sum of one or two terms.
template <bool kLong>
struct SumValue {
  const Pair* first;
  const Pair* second;
  float slope0;
  float slope1;
  float outer;

  __device__ SumValue(const Recipe& recipe, const Pair* table, int block)
      : first(recipe.pairs(table, 0, block * kBlock)),
        second(kLong ? recipe.pairs(table, 1, block * kBlock) : nullptr),
        slope0(recipe.formula.slope[0]),
        slope1(recipe.formula.slope[1]),
        outer(recipe.formula.outer) {}

  struct Numbers {
    PairOfPairs first;
    PairOfPairs second;
  };
  __device__ Numbers numbers(int w) const {
    Numbers both;
    both.first = pairs_at(first, w);
    if constexpr (kLong) {
      both.second = pairs_at(second, w);
    }
    return both;
  }
  __device__ float2 term(const Numbers& n, float2 a) const {
    return {leaky(a.x * n.first.x.s + n.first.x.t, slope0),
            leaky(a.y * n.first.y.s + n.first.y.t, slope0)};
  }
  __device__ float2 with_second(const Numbers& n, float2 value, float2 b) const {
    value.x += leaky(b.x * n.second.x.s + n.second.x.t, slope1);
    value.y += leaky(b.y * n.second.y.s + n.second.y.t, slope1);
    if (outer != 1) {
      value = {leaky(value.x, outer), leaky(value.y, outer)};
    }
    return value;
  }
  template <int kImages>
  __device__ float2 operator()(const Numbers& n, const float2 (&x)[kImages]) const {
    const float2 value = term(n, x[0]);
    if constexpr (kLong) {
      return with_second(n, value, x[1]);
    } else {
      return value;
    }
  }
};

/// A gradient through activation and normalisation, which may have had the same image.
struct GradientValue {
  const Pair* gate;
  const Pair* scale;
  const Pair* through;
  float slope;

  __device__ GradientValue(const Recipe& recipe, const Pair* table, int block)
      : gate(recipe.pairs(table, 0, block * kBlock)),
        scale(recipe.pairs(table, 1, block * kBlock)),
        through(recipe.pairs(table, 2, block * kBlock)),
        slope(recipe.formula.slope[0]) {}

  struct Numbers {
    PairOfPairs gate;
    PairOfPairs scale;
    PairOfPairs through;
  };
  __device__ Numbers numbers(int w) const {
    return {pairs_at(gate, w), pairs_at(scale, w), pairs_at(through, w)};
  }
  __device__ float one(float a, float b, float c, const Pair& gate_of, const Pair& scale_of,
                       const Pair& through_of) const {
    const float gated = b * gate_of.s + gate_of.t > 0 ? a : slope * a;
    return gated * scale_of.s + (c * through_of.s + through_of.t);
  }
  template <int kImages>
  __device__ float2 operator()(const Numbers& n, const float2 (&x)[kImages]) const {
    const float2 c = x[kImages - 1];
    return {one(x[0].x, x[1].x, c.x, n.gate.x, n.scale.x, n.through.x),
            one(x[0].y, x[1].y, c.y, n.gate.y, n.scale.y, n.through.y)};
  }
};

/// A gradient where an image was activated, and no more.
struct GateValue {
  const Pair* gate;
  float slope;

  __device__ GateValue(const Recipe& recipe, const Pair* table, int block)
      : gate(recipe.pairs(table, 0, block * kBlock)), slope(recipe.formula.slope[0]) {}

  __device__ PairOfPairs numbers(int w) const { return pairs_at(gate, w); }
  __device__ float2 operator()(const PairOfPairs& n, const float2 (&x)[2]) const {
    return gated(x[0], x[1], n, slope);
  }
};

/// A tile of a sum whose first image is half as large and upsampled. Pixels of rows 2 q - 1 and
/// 2 q, and of such columns, lie between the same four of the small image; a thread has all four.
/// corner(row, column) is a pixel of the small image, other(row, column, p) one of the second,
/// which lies in the image and is pixel p of the tile.
template <Products kProducts, bool kLong, class Corner, class Other>
__device__ __forceinline__ void upsample_tile(const Recipe& recipe, const Pair* table,
                                              const TilePlace& place, int block, std::byte* tile,
                                              int tile_block, const Corner& corner,
                                              const Other& other) {
  const SumValue<kLong> value(recipe, table, block);
  const Image& small = recipe.leaf[0].image;
  const int first_row = (place.row + 1) >> 1;
  const int first_column = (place.column + 1) >> 1;
  const int down = ((place.row + place.rows) >> 1) - first_row + 1;
  const int across = ((place.column + place.columns) >> 1) - first_column + 1;
  const float across_inverse = 1.0F / static_cast<float>(across);
  const int pixels = place.rows * place.columns;
#pragma unroll 1
  for (int i = threadIdx.x; i < down * across; i += kThreadsOfTile) {
    // Numbers are small, so the quotient is right.
    const int quad = static_cast<int>((static_cast<float>(i) + 0.5F) * across_inverse);
    const int row = first_row + quad;
    const int column = first_column + i - quad * across;
    const int low_row = max(row - 1, 0);
    const int low_column = max(column - 1, 0);
    const int high_row = min(row, small.rows - 1);
    const int high_column = min(column, small.columns - 1);
    const RawBlock<kProducts> corners[4] = {
        corner(low_row, low_column), corner(low_row, high_column), corner(high_row, low_column),
        corner(high_row, high_column)};
    RawBlock<kProducts> out[4];
    bool is_there[4];
    bool is_inside[4];
    int at[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int r = 2 * row - 1 + k / 2;
      const int c = 2 * column - 1 + k % 2;
      is_there[k] = r >= place.row && r < place.row + place.rows && c >= place.column &&
                    c < place.column + place.columns;
      is_inside[k] = r >= 0 && r < recipe.rows && c >= 0 && c < recipe.columns;
      at[k] = (r - place.row) * place.columns + c - place.column;
      if constexpr (kLong) {
        if (is_there[k] && is_inside[k]) {
          out[k] = other(r, c, at[k]);
        }
      }
    }
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      const float2 c0 = corners[0].pair(w);
      const float2 c1 = corners[1].pair(w);
      const float2 c2 = corners[2].pair(w);
      const float2 c3 = corners[3].pair(w);
      const auto numbers = value.numbers(w);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float down_beyond = k / 2 == 0 ? 0.25F : 0.75F;
        const float across_beyond = k % 2 == 0 ? 0.25F : 0.75F;
        float2 a = {between(c0.x, c1.x, c2.x, c3.x, down_beyond, across_beyond),
                    between(c0.y, c1.y, c2.y, c3.y, down_beyond, across_beyond)};
        a = value.term(numbers, a);
        if constexpr (kLong) {
          a = value.with_second(numbers, a, out[k].pair(w));
        }
        out[k].set(w, a);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (is_there[k]) {
        out[k].put(tile, tile_block, pixels, at[k], is_inside[k]);
      }
    }
  }
}

template <Products kProducts, bool kLong>
__device__ __forceinline__ void load_bilinear(const Recipe& recipe, const Pair* table,
                                              const TilePlace& place, int block, std::byte* tile,
                                              int tile_block) {
  const Image& small = recipe.leaf[0].image;
  const std::int64_t image = place.image < 0 ? 0 : place.image;
  const std::byte* const plane = plane_of<kProducts>(small, image, block);
  const std::byte* const second =
      kLong ? plane_of<kProducts>(recipe.leaf[1].image, image, block) : nullptr;
  const auto at = [](const std::byte* from, int pixel) {
    RawBlock<kProducts> raw;
    raw.load(from, pixel);
    return raw;
  };
  upsample_tile<kProducts, kLong>(
      recipe, table, place, block, tile, tile_block,
      [&](int row, int column) { return at(plane, row * small.columns + column); },
      [&](int row, int column, int) { return at(second, row * recipe.columns + column); });
}

/// The largest of 2 x 2 pixels of a sum of one image.
template <Products kProducts>
__device__ __forceinline__ void load_pooled(const Recipe& recipe, const Pair* table,
                                            const TilePlace place, int block, std::byte* tile,
                                            int tile_block) {
  const Image& large = recipe.leaf[0].image;
  const std::byte* const plane = plane_of<kProducts>(large, place.image, block);
  const SumValue<false> value(recipe, table, block);
  const int pixels = place.rows * place.columns;
#pragma unroll 1
  for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
    const TilePixel pixel = tile_pixel(place, recipe, p);
    RawBlock<kProducts> of_window[4];
    if (pixel.inside) {
      const int first = 2 * pixel.row * large.columns + 2 * pixel.column;
      of_window[0].load(plane, first);
      of_window[1].load(plane, first + 1);
      of_window[2].load(plane, first + large.columns);
      of_window[3].load(plane, first + large.columns + 1);
    }
    RawBlock<kProducts> out;
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      const auto numbers = value.numbers(w);
      float2 largest = value.term(numbers, of_window[0].pair(w));
#pragma unroll
      for (int k = 1; k < 4; ++k) {
        const float2 next = value.term(numbers, of_window[k].pair(w));
        largest = {next.x > largest.x ? next.x : largest.x,
                   next.y > largest.y ? next.y : largest.y};
      }
      out.set(w, largest);
    }
    out.put(tile, tile_block, pixels, p, pixel.inside);
  }
}

/// The taps of a single channel along a row, as channels of a pixel.
template <Products kProducts>
__device__ __forceinline__ void load_spread(const Recipe& recipe, const TilePlace& place,
                                            std::byte* tile) {
  const Leaf& leaf = recipe.leaf[0];
  const float* const image = static_cast<const float*>(leaf.image.base) +
                             (place.image < 0 ? 0 : leaf.image.offset(place.image, 0, 0));
  const int pixels = place.rows * place.columns;
#pragma unroll 1
  for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
    const TilePixel pixel = tile_pixel(place, recipe, p);
    const int first = pixel.column + leaf.shift;
    const float* const row = image + pixel.row * leaf.image.columns;
    float taps[kBlock];
#pragma unroll
    for (int k = 0; k < kBlock; ++k) {
      taps[k] = pixel.inside && k < recipe.channels &&
                        static_cast<unsigned>(first + k) < static_cast<unsigned>(leaf.image.columns)
                    ? row[first + k]
                    : 0.0F;
    }
    RawBlock<kProducts> out;
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      out.set(w, {taps[2 * w], taps[2 * w + 1]});
    }
    out.put(tile, 0, pixels, p, pixel.inside);
  }
}

template <Products kProducts>
__device__ __forceinline__ void load_interpreted(const Recipe& recipe, const Pair* table,
                                                 const TilePlace& place, int block, std::byte* tile,
                                                 int tile_block) {
  const int pixels = place.rows * place.columns;
#pragma unroll 1
  for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
    const TilePixel pixel = tile_pixel(place, recipe, p);
    float value[kBlock] = {};
    if (pixel.inside) {
      evaluate<kBlock>(recipe, table, {place.image, pixel.row, pixel.column}, block * kBlock,
                       nullptr, value);
    }
    RawBlock<kProducts> out;
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      out.set(w, {value[2 * w], value[2 * w + 1]});
    }
    out.put(tile, tile_block, pixels, p, pixel.inside);
  }
}

/// Channel blocks [first, first + count) of a tile. Outside the image everything is zero.
/// kUnderWay: pixels of a single image that a thread has on their way at once.
template <Products kProducts, Source kSource, int kUnderWay>
__device__ __forceinline__ void load_known_tile(const Recipe& recipe, const Pair* table,
                                                const TilePlace& place, int first, int count,
                                                std::byte* tile) {
  constexpr int kWithTwo = (kUnderWay + 1) / 2;
  if constexpr (kSource == Source::spread) {
    count = 1;
  }
#pragma unroll 1
  for (int b = 0; b < count; ++b) {
    const int block = first + b;
    if constexpr (kSource == Source::spread) {
      load_spread<kProducts>(recipe, place, tile);
    } else if constexpr (kSource == Source::sum) {
      load_stored<kProducts, kUnderWay, 1, SumValue<false>>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::sums) {
      load_stored<kProducts, kWithTwo, 2, SumValue<true>>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::bilinear) {
      load_bilinear<kProducts, false>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::bilinear_sums) {
      load_bilinear<kProducts, true>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::pooled) {
      load_pooled<kProducts>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::gradient) {
      load_stored<kProducts, kWithTwo, 2, GradientValue>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::gradient3) {
      load_stored<kProducts, 1, 3, GradientValue>(recipe, table, place, block, tile, b);
    } else if constexpr (kSource == Source::gated) {
      load_stored<kProducts, kWithTwo, 2, GateValue>(recipe, table, place, block, tile, b);
    }
  }
}

/// The same for tiles of fewer pixels than there are threads: these share all pixels of all blocks,
/// and have several on their way at once.
template <Products kProducts, int kImages, class Value>
__device__ __forceinline__ void load_small_tile(const Recipe& recipe, const Pair* table,
                                                const TilePlace& place, int first, int count,
                                                std::byte* tile) {
  const int pixels = place.rows * place.columns;
  const float pixels_inverse = 1.0F / static_cast<float>(pixels);
  const std::int64_t image = place.image < 0 ? 0 : place.image;
  for_pixels<4>(pixels * count, [&](auto of_thread, int begin) {
    constexpr int kCount = decltype(of_thread)::value;
    RawBlock<kProducts> raw[kCount][kImages];
    int block[kCount];
    int at[kCount];
    bool inside[kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const int i = begin + u * kThreadsOfTile;
      // Numbers are small, so the quotient is right.
      block[u] = static_cast<int>((static_cast<float>(i) + 0.5F) * pixels_inverse);
      at[u] = i - block[u] * pixels;
      const TilePixel pixel = tile_pixel(place, recipe, at[u]);
      inside[u] = pixel.inside;
#pragma unroll
      for (int k = 0; k < kImages; ++k) {
        raw[u][k].load(plane_of<kProducts>(recipe.leaf[k].image, image, first + block[u]),
                       pixel.inside ? pixel.row * recipe.columns + pixel.column : 0);
      }
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Value value(recipe, table, first + block[u]);
#pragma unroll
      for (int w = 0; w < kBlock / 2; ++w) {
        float2 pairs[kImages];
#pragma unroll
        for (int k = 0; k < kImages; ++k) {
          pairs[k] = raw[u][k].pair(w);
        }
        raw[u][0].set(w, value(value.numbers(w), pairs));
      }
      raw[u][0].put(tile, block[u], pixels, at[u], inside[u]);
    }
  });
}

/// The same for any recipe. It is a call: a copy of it would take the registers in which a kernel
/// keeps its sums.
template <Products kProducts>
__device__ __noinline__ void load_tile(const Recipe& recipe, const Pair* table,
                                       const TilePlace place, int first, int count,
                                       std::byte* tile) {
  const Source source = source_of(recipe, kProducts);
  const bool is_sum = source == Source::sum || source == Source::plain;
  const bool is_small = place.rows * place.columns < kThreadsOfTile;
  if (is_sum && is_small) {
    load_small_tile<kProducts, 1, SumValue<false>>(recipe, table, place, first, count, tile);
  } else if (source == Source::gradient && is_small) {
    load_small_tile<kProducts, 2, GradientValue>(recipe, table, place, first, count, tile);
  } else if (is_sum) {
    load_known_tile<kProducts, Source::sum, 2>(recipe, table, place, first, count, tile);
  } else if (source == Source::gradient) {
    load_known_tile<kProducts, Source::gradient, 2>(recipe, table, place, first, count, tile);
  } else {
#pragma unroll 1
    for (int b = 0; b < count; ++b) {
      load_interpreted<kProducts>(recipe, table, place, first + b, tile, b);
    }
  }
}

/// evaluate() as a call, likewise.
template <int kLanes>
__device__ __noinline__ void call_evaluate(const Recipe& recipe, const Pair* table, const Place& at,
                                           int channel, const float* result, float* out) {
  evaluate<kLanes>(recipe, table, at, channel, result, out);
}

/// Called by all threads of a block when its partial sums are in memory: the last block of a group
/// and column adds all up. `scratch` is 4 KB on the chip. A call, as it happens once.
__device__ __noinline__ inline void finish_sums(const PixelSums& sums, const SumsGeometry& geometry,
                                                int slice, int column, double* scratch) {
  __shared__ bool is_last;
  const int slices_of_group = geometry.slices / sums.groups;
  const int group = slice / slices_of_group;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned* const finished = sums.finished + group * geometry.columns + column;
    const unsigned blocks = static_cast<unsigned>(geometry.blocks * slices_of_group);
    is_last = atomicAdd(finished, 1U) + 1 == blocks;
    if (is_last) {
      *finished = 0;
    }
  }
  __syncthreads();
  if (!is_last) {
    return;
  }
  __threadfence();
  // Threads share the blocks of a sum, which are then joined in order.
  constexpr int kThreads = kThreadsOfTile;
  const int channels = geometry.channels;
  const int together = channels < kThreads ? channels : kThreads;
  const int parts = kThreads / together;
  const int part = threadIdx.x / together;
  for (int begin = 0; begin < channels; begin += together) {
    const int channel = begin + threadIdx.x % together;
    double uv = 0;
    double v = 0;
    if (part < parts && channel < channels) {
      for (int s = 0; s < slices_of_group; ++s) {
        const std::int64_t first =
            (static_cast<std::int64_t>(group * slices_of_group + s) * geometry.columns + column) *
            geometry.blocks;
        for (int block = part; block < geometry.blocks; block += parts) {
          const PartialSums* const from = sums.partials + (first + block) * channels + channel;
          uv += static_cast<double>(__ldcg(&from->uv));
          v += static_cast<double>(__ldcg(&from->v));
        }
      }
      scratch[2 * threadIdx.x] = uv;
      scratch[2 * threadIdx.x + 1] = v;
    }
    __syncthreads();
    if (part == 0 && channel < channels) {
      for (int other = 1; other < parts; ++other) {
        uv += scratch[2 * (threadIdx.x + other * together)];
        v += scratch[2 * (threadIdx.x + other * together) + 1];
      }
      sums.finish(group, column * channels + channel, uv, v);
    }
    __syncthreads();
  }
}

}  // namespace cosmic::target::cuda
