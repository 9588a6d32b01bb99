// The kernels of conv_tile.hpp that know, when they are compiled, what they read and what becomes
// of the result. They are the ones that matter: nearly all of a network's time is spent here. As in
// conv_tile.cuh, a block of threads has a tile of its source on the chip, and warps multiply 16
// pixels of a row at a time with the weights of a tap, while the next tile arrives
// (staged_tile.cuh). A thread then has two neighbouring channels of some pixels, and four threads
// have a pixel; bias, addend, rounding and sums over the result follow right there in registers,
// and neighbouring threads write neighbouring words. Several blocks per multiprocessor are at
// different points of this, so that evaluating and multiplying overlap.
#pragma once

#include <type_traits>

#include "target/cuda/conv_tile.cuh"
#include "target/cuda/staged_tile.cuh"

namespace cosmic::target::cuda {

/// Two neighbouring channels that lie side by side in memory.
template <bool kWide>
struct ChannelPair;

template <>
struct ChannelPair<false> {
  static constexpr int kBytes = 4;
  std::uint32_t word;

  __device__ static ChannelPair of(float2 numbers, Format format) {
    const float both[2] = {numbers.x, numbers.y};
    return {pack<2>(both, format).word[0]};
  }
  __device__ float2 floats(Format format) const {
    float both[2];
    unpack<2>(Words<1>{{word}}, format, both);
    return {both[0], both[1]};
  }
};

template <>
struct ChannelPair<true> {
  static constexpr int kBytes = 8;
  float2 numbers;

  __device__ static ChannelPair of(float2 numbers, Format) { return {numbers}; }
  __device__ float2 floats(Format) const { return numbers; }
};

template <bool kWide>
__device__ inline float2 read_pair(const std::byte* from, Format format) {
  return reinterpret_cast<const ChannelPair<kWide>*>(from)->floats(format);
}

/// Sums of a thread over the pixels of two neighbouring channels.
struct PairSums {
  float2 uv = {0, 0};
  float2 v = {0, 0};

  __device__ void add(float2 u, float2 of_v) {
    uv.x += u.x * of_v.x;
    uv.y += u.y * of_v.y;
    v.x += of_v.x;
    v.y += of_v.y;
  }
};

/// Adds up the sums of the threads of a warp that have the same channels.
__device__ inline void join_pair_sums(const PairSums& sums, PartialSums* to) {
  float numbers[4] = {sums.uv.x, sums.uv.y, sums.v.x, sums.v.y};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int apart = 4; apart < 32; apart *= 2) {
      numbers[k] += __shfl_xor_sync(0xffffffffU, numbers[k], apart);
    }
  }
  const int lane = threadIdx.x % 32;
  if (lane < 4) {
    to[2 * lane] = {numbers[0], numbers[2]};
    to[2 * lane + 1] = {numbers[1], numbers[3]};
  }
}

inline constexpr int kAcross = 2;  ///< rows of 16 pixels that are side by side in a tile

COSMIC_DEVICE constexpr bool is_apart(Finish finish) {
  return finish == Finish::apart || finish == Finish::apart_gated;
}
COSMIC_DEVICE constexpr bool is_backward(Finish finish) {
  return finish == Finish::backward || finish == Finish::backward_added ||
         finish == Finish::backward_gated || is_apart(finish);
}
COSMIC_DEVICE constexpr bool adds_stored(Finish finish) {
  return finish == Finish::added || finish == Finish::backward_added;
}
COSMIC_DEVICE constexpr bool adds_gated(Finish finish) {
  return finish == Finish::gated_added || finish == Finish::backward_gated ||
         finish == Finish::apart_gated;
}
/// Activated results are neither summed up nor gradients.
COSMIC_DEVICE constexpr bool can_activate(Finish finish) {
  return finish == Finish::forward || finish == Finish::added;
}
/// Images that are read beside a result, in the order: what was activated, what is summed up if it
/// is another, what is added, what gates that.
COSMIC_DEVICE constexpr int images_beside(Finish finish) {
  return (is_backward(finish) ? 1 : 0) + (is_apart(finish) ? 1 : 0) +
         (adds_stored(finish) ? 1 : 0) + (adds_gated(finish) ? 2 : 0);
}

/// How much of a tile's results is known when a kernel is compiled. Whole tiles lie in the image,
/// and are bfloat16 or float16 if the factors are.
enum class Results : std::uint8_t {
  any,        ///< asked for each pixel
  bare,       ///< of whole tiles: written, and no more
  activated,  ///< of whole tiles: activated, then written
  summed,     ///< of whole tiles: written and summed up
};

/// What becomes of the results of a tile, two channels of a pixel at a time.
template <Products kProducts, int kColumns, int kRows, Finish kFinish>
struct FinishTile {
  static constexpr bool kWide = channels_per_unit(kProducts) != kBlock;
  static constexpr int kPixelBytes = kBlock * (kWide ? 4 : 2);
  static constexpr int kPixels = 2 * kRows;  ///< of a thread
  static constexpr int kImages = images_beside(kFinish);
  static constexpr bool kApart = is_apart(kFinish);
  static constexpr int kAddend = kApart ? 2 : is_backward(kFinish) ? 1 : 0;
  static constexpr bool kBackward = is_backward(kFinish);
  static constexpr bool kAddsStored = adds_stored(kFinish);
  static constexpr bool kAddsGated = adds_gated(kFinish);
  static constexpr bool kUpsampled = kFinish == Finish::upsampled;

  const ConvTile& conv;
  const ResultTables& tables;
  int image;
  int first_row;
  int first_column;
  std::int64_t offset;  ///< of the first pixel, in the result and in what lies as it does
  int row_bytes;        ///< from one row to the next there
  std::int64_t small;   ///< of the plane of an image that is upsampled
  PairOfPairs gate;
  PairOfPairs added;

  /// Pixels of a column of filters that are fetched together: all where a thread has few sums, and
  /// otherwise as many as registers are left for, of all images that are read, while those before
  /// them are finished. With more, kernels kept some of their sums in memory.
  static constexpr int kWordsOfPart = 8;
  static constexpr int kImagesOfPart = kImages == 3 ? 4 : kImages;  // a power of two
  static constexpr bool kWhole =
      kWide || kColumns == 1 || kFinish == Finish::added || kPixels * kImagesOfPart <= kWordsOfPart;
  static constexpr int kPart = kWhole ? kPixels : kWordsOfPart / kImagesOfPart;
  static constexpr int kParts = kPixels / kPart;
  struct Fetched {
    ChannelPair<kWide> of[kImages > 0 ? kImages : 1][kPart];
  };

  /// A block of filters. Channels that only fill it up are zero, as neither weights nor bias are
  /// there; those that an image with narrow blocks has no room for are left out.
  __device__ bool begin_column(int j) {
    const int lane = threadIdx.x % 32;
    const int block = blockIdx.z * kColumns + j;
    if (block * kBlock >= conv.out.channels || lane % 4 * 2 >= conv.out.lanes) {
      return false;
    }
    const int channel = block * kBlock + lane % 4 * 2;
    // As in plane_of.
    const unsigned number =
        static_cast<unsigned>(image) * static_cast<unsigned>(ceil_of(conv.out.channels, kBlock)) +
        static_cast<unsigned>(block);
    const unsigned pixels =
        static_cast<unsigned>(conv.out.rows) * static_cast<unsigned>(conv.out.columns);
    const int in_plane = first_row * conv.out.columns + first_column;
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) * pixels +
                                       static_cast<unsigned>(in_plane)) *
                 kPixelBytes +
             lane % 4 * (2 * size_of(conv.out.format));
    row_bytes = conv.out.columns * kPixelBytes;
    if constexpr (kBackward || kUpsampled) {
      gate = pairs_at(conv.sums.v.pairs(tables.v, 0, channel), 0);
    }
    if constexpr (kAddsStored || kAddsGated) {
      added = pairs_at(conv.addend.pairs(tables.addend, 0, channel), 0);
    }
    if constexpr (kUpsampled) {
      const Image& x = conv.sums.u.leaf[0].image;
      small = plane_of<kProducts>(x, image, block) - static_cast<const std::byte*>(x.base) +
              lane % 4 * (2 * size_of(x.format));
    }
    return true;
  }

  /// Is there such a pixel? Not always, where tiles reach beyond the image.
  __device__ bool is_inside(int r, int c) const {
    return first_row + r < conv.result.rows && first_column + c * 8 < conv.result.columns;
  }

  __device__ void fetch(Fetched& fetched, int part, bool whole) const {
    if constexpr (kBackward) {
      fetch_one(conv.sums.v.leaf[1].image, fetched.of[0], part, whole);
    }
    if constexpr (kApart) {
      fetch_one(conv.sums.u.leaf[0].image, fetched.of[1], part, whole);
    }
    if constexpr (kAddsStored || kAddsGated) {
      fetch_one(conv.addend.leaf[0].image, fetched.of[kAddend], part, whole);
    }
    if constexpr (kAddsGated) {
      fetch_one(conv.addend.leaf[1].image, fetched.of[kAddend + 1], part, whole);
    }
  }

  /// Pixel c * 8 of the thread's row r. upsampled: the image that is summed up, where it is
  /// upsampled.
  template <Results kResults>
  __device__ void pixel(int r, int c, float2 sum, const Fetched& fetched, PairSums& total,
                        float2 upsampled = {}) const {
    constexpr Format kFormat = format_of(kProducts);
    constexpr bool kAny = kResults == Results::any;
    if (kAny && !is_inside(r, c)) {
      return;
    }
    const int i = (r * 2 * kAcross + c) % kPart;
    float2 value = sum;
    if constexpr (kAddsStored) {
      const float2 more = fetched.of[kAddend][i].floats(kFormat);
      const float slope = conv.addend.formula.slope[0];
      value.x += leaky(more.x * added.x.s + added.x.t, slope);
      value.y += leaky(more.y * added.y.s + added.y.t, slope);
    }
    if constexpr (kAddsGated) {
      const float2 more =
          gated(fetched.of[kAddend][i].floats(kFormat), fetched.of[kAddend + 1][i].floats(kFormat),
                added, conv.addend.formula.slope[0]);
      value.x += more.x;
      value.y += more.y;
    }
    if (kResults == Results::activated || (kAny && conv.slope != 1)) {
      value = {leaky(value.x, conv.slope), leaky(value.y, conv.slope)};
    }
    std::byte* const to = static_cast<std::byte*>(conv.out.base) + offset +
                          static_cast<std::int64_t>(r * row_bytes) + c * 8 * kPixelBytes;
    if (kWide || (kAny && conv.out.format == Format::f32)) {
      *reinterpret_cast<float2*>(to) = value;
    } else {
      const auto written = ChannelPair<false>::of(value, kFormat);
      *reinterpret_cast<ChannelPair<false>*>(to) = written;
      value = written.floats(kFormat);
    }
    if constexpr (kBackward || kUpsampled) {
      float2 x;
      if constexpr (kBackward) {
        x = fetched.of[0][i].floats(kFormat);
      } else {
        x = upsampled;
      }
      const float2 v = gated(value, x, gate, conv.sums.v.formula.slope[0]);
      if constexpr (kApart) {
        x = fetched.of[1][i].floats(kFormat);
      }
      total.add(x, v);
    } else if (kResults == Results::summed || (kAny && conv.sums.wanted())) {
      total.add(value, value);
    }
  }

 private:
  __device__ void fetch_one(const Image& from, ChannelPair<kWide> (&to)[kPart], int part,
                            bool whole) const {
    const std::byte* const first = static_cast<const std::byte*>(from.base) + offset;
#pragma unroll
    for (int i = 0; i < kPart; ++i) {
      const int r = (part * kPart + i) / (2 * kAcross);
      const int c = (part * kPart + i) % (2 * kAcross);
      if (whole || is_inside(r, c)) {
        to[i] = *reinterpret_cast<const ChannelPair<kWide>*>(
            first + static_cast<std::int64_t>(r * row_bytes) + c * 8 * kPixelBytes);
      }
    }
  }

 public:
  /// Rows of the small image that the rows of a thread lie between, from the one above the first,
  /// at pixel c * 8 of a row.
  static constexpr int kRowsDown = kRows / kAcross;
  static constexpr int kSmallRows = kRowsDown / 2 + 2;
  __device__ void read_small(int c, float2 (&rows)[kSmallRows]) const {
    const Image& image_of = conv.sums.u.leaf[0].image;
    const std::byte* const plane = static_cast<const std::byte*>(image_of.base) + small;
    const BilinearTaps across = taps_of(first_column + c * 8, image_of.columns);
    const auto pixel_of = [&](int row, int column) {
      return read_pair<kWide>(
          plane + static_cast<std::int64_t>(row * image_of.columns + column) * kPixelBytes,
          format_of(kProducts));
    };
#pragma unroll
    for (int i = 0; i < kSmallRows; ++i) {
      const int row = min(max(first_row / 2 - 1 + i, 0), image_of.rows - 1);
      const float2 a = pixel_of(row, min(across.low, image_of.columns - 1));
      const float2 b = pixel_of(row, across.high);
      rows[i] = {(1 - across.beyond) * a.x + across.beyond * b.x,
                 (1 - across.beyond) * a.y + across.beyond * b.y};
    }
  }
  /// The thread's row r of them.
  __device__ static float2 upsampled_row(const float2 (&rows)[kSmallRows], int r) {
    const float2 low = rows[(r + 1) / 2];
    const float2 high = rows[(r + 1) / 2 + 1];
    const float beyond = r % 2 == 0 ? 0.75F : 0.25F;
    return {(1 - beyond) * low.x + beyond * high.x, (1 - beyond) * low.y + beyond * high.y};
  }
};

/// That registers are shared out to.
constexpr int blocks_of_multiprocessor(Products products, int columns, int rows, Source source,
                                       Finish finish) {
  if (columns * rows > 8 || channels_per_unit(products) != kBlock || images_beside(finish) > 0) {
    return 2;
  }
  return source == Source::spread && columns == 1 ? 4 : 3;
}

/// kRows: of 16 pixels, that a warp has. kChunks: the source has more channels than fit on the
/// chip.
template <Products kProducts, int kColumns, int kRows, Source kSource, Finish kFinish, bool kChunks>
__global__ void __launch_bounds__(kThreadsOfTile, blocks_of_multiprocessor(kProducts, kColumns,
                                                                           kRows, kSource, kFinish))
    conv_formula_kernel(const __grid_constant__ ConvTile conv) {
  constexpr bool kWide = channels_per_unit(kProducts) != kBlock;
  COSMIC_CHIP_MEMORY(chip);
  const ConvTileGeometry& g = conv.geometry;
  const ConvTileMemory memory = conv_tile_memory(conv);
  Pair* const source_table = reinterpret_cast<Pair*>(chip + memory.tables);
  int* const offsets = reinterpret_cast<int*>(chip + memory.offsets);
  float* const bias = reinterpret_cast<float*>(chip + memory.bias);
  std::byte* const tile = chip + memory.tile;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int slice = blockIdx.y;
  const int filter_group = blockIdx.z;
  const int first_image = slice * g.images_of_slice;

  ResultTables tables{};
  tables.sums = reinterpret_cast<PartialSums*>(chip + memory.sums);
  tables.bias = bias;
  {
    Pair* const addend = fill_table(conv.source, first_image, source_table);
    Pair* const u = fill_table(conv.addend, first_image, addend);
    Pair* const v = fill_table(conv.sums.u, first_image, u);
    fill_table(conv.sums.v, first_image, v);
    tables.addend = addend;
    tables.v = v;
  }
  for (int i = threadIdx.x; i < kColumns * kBlock; i += kThreadsOfTile) {
    const int channel = filter_group * kColumns * kBlock + i;
    bias[i] = conv.bias != nullptr && channel < conv.out.channels
                  ? rounded_to(conv.bias[channel], conv.bias_format)
                  : 0.0F;
  }
  const int row_bytes = g.source_columns * kUnitBytes;
  {
    const int taps = conv.taps.rows * conv.taps.columns;
    const int units = g.chunk_blocks * conv.units_of_block();
    for (int i = threadIdx.x; i < 2 * conv.steps_of_chunk(0); i += kThreadsOfTile) {
      // A unit too many reads the last one again; its weights are zero.
      const int unit = min(i, taps * units - 1);
      const int tap = unit % taps;
      offsets[i] = unit / taps * g.source_rows * row_bytes + tap / conv.taps.columns * row_bytes +
                   tap % conv.taps.columns * kUnitBytes;
    }
  }
  if constexpr (kChunks) {
    // In a last chunk of fewer blocks, a unit too many is of a block that it does not have. Its
    // weights are zero, but zero times what happens to be on the chip may not be.
    for (int i = threadIdx.x; i < g.buffers.bytes() / kUnitBytes; i += kThreadsOfTile) {
      reinterpret_cast<uint4*>(tile)[i] = uint4{};
    }
    __syncthreads();
  }
  const std::uint32_t base =
      shared_address(tile) + warp * (kRows / kAcross) * row_bytes + lane % 16 * kUnitBytes;
  const uint2* const weights =
      reinterpret_cast<const uint2*>(conv.weights) +
      static_cast<std::int64_t>(filter_group) * conv.steps() * kColumns * 32 + lane;
  const unsigned columns_inverse = inverse_of(g.source_columns);
  const auto place_of = [&](const TileWalk& at) {
    return TilePlace{at.image,
                     at.down * g.tile_rows + conv.first.rows,
                     at.across * g.tile_columns + conv.first.columns,
                     g.source_rows,
                     g.source_columns,
                     columns_inverse};
  };
  // So many pixels of a thread at once as it has of a tile without its surroundings.
  constexpr int kUnderWay = kWide ? 2 : kColumns == 1 ? 4 : 2;
  const StagedTile<kProducts, kSource, is_staged(kProducts, kSource, kColumns), kUnderWay, kChunks>
      source(conv.source, source_table, g.buffers, tile);
  PairSums totals[kColumns];
  const int last_tile =
      min(g.tiles_of_slice(), static_cast<int>(blockIdx.x + 1) * g.tiles_of_block);
  TileWalk walk(g, blockIdx.x * g.tiles_of_block, first_image);
  int number = 0;  // of the tile, counting those of all chunks
  if (g.buffers.ahead) {
    source.begin(place_of(walk), 0, g.chunk_blocks, number);
  }
  __syncthreads();  // the tables are filled
#pragma unroll 1
  for (int t = blockIdx.x * g.tiles_of_block; t < last_tile; ++t) {
    const int row = walk.down * g.tile_rows;
    const int column = walk.across * g.tile_columns;
    const TilePlace place = place_of(walk);
    TileWalk next = walk;
    next.next(g);
    using OneFinish = FinishTile<kProducts, kColumns, kRows, kFinish>;
    OneFinish finish{conv, tables, walk.image, row + warp * (kRows / kAcross), column + lane / 4};
    const bool whole =
        row + g.tile_rows <= conv.result.rows && column + g.tile_columns <= conv.result.columns;
    // With few sums there is room to have what is read beside the first results on its way while
    // they are computed. What is read beside others is on its way while those before are finished.
    constexpr int kBeside = OneFinish::kImages * OneFinish::kPart;
    constexpr bool kEarly = !kWide && kBeside > 0 && kColumns * kRows * 4 + kBeside <= 96;
    constexpr int kParts = OneFinish::kParts;
    constexpr int kFetchedParts = !kWide && kColumns > 1 && kBeside <= 32 ? 2 : 1;
    typename OneFinish::Fetched fetched[kFetchedParts];
    // Sums begin with the bias.
    float sums[kRows][kColumns][4];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const float2 of_pair = reinterpret_cast<const float2*>(bias)[j * kBlock / 2 + lane % 4];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        sums[i][j][0] = sums[i][j][2] = of_pair.x;
        sums[i][j][1] = sums[i][j][3] = of_pair.y;
      }
    }
    const uint2* b_from = weights;
    const auto blocks_from = [&](int first_block) {
      return kChunks ? min(g.chunk_blocks, conv.source.blocks() - first_block) : g.chunk_blocks;
    };
    const auto do_chunk = [&](int first_block) {
      const int blocks = blocks_from(first_block);
      if (!g.buffers.ahead) {
        __syncthreads();  // what was there before has been used
        source.begin(place, first_block, blocks, number);
      }
      source.finish(place, first_block, blocks, number);
      __syncthreads();
      if constexpr (kEarly) {
        if (finish.begin_column(0)) {
          finish.fetch(fetched[0], 0, whole);
        }
      }
      if (g.buffers.ahead) {
        // All threads have passed the barrier, so the tile before this one has been used.
        const int more = first_block + g.chunk_blocks;
        const bool is_same_tile = kChunks && more < conv.source.blocks();
        if (is_same_tile || t + 1 < last_tile) {
          const int from = is_same_tile ? more : 0;
          source.begin(place_of(is_same_tile ? walk : next), from, blocks_from(from), number + 1);
        }
      }
      const std::uint32_t base_of_tile =
          base + static_cast<std::uint32_t>(source.tile(number) - source.tile(0));
      ++number;
      const int steps = conv.steps_of_chunk(kChunks ? first_block / g.chunk_blocks : 0);
      const int* offset = offsets + lane / 16;
#pragma unroll 2
      for (int step = 0; step < steps; ++step, offset += 2, b_from += kColumns * 32) {
        const std::uint32_t from = base_of_tile + *offset;
        uint2 b[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          b[j] = __ldg(b_from + j * 32);
        }
        // Some matrices are on their way while others are multiplied.
        constexpr int kTogether = 4;
#pragma unroll
        for (int first = 0; first < kRows; first += kTogether) {
          std::uint32_t a[kTogether][4];
#pragma unroll
          for (int i = 0; i < kTogether; ++i) {
            load_matrices(a[i], from + (first + i) / kAcross * row_bytes +
                                    i % kAcross * kPixelsOfRow * kUnitBytes);
          }
#pragma unroll
          for (int i = 0; i < kTogether; ++i) {
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
              multiply<kProducts>(sums[first + i][j], a[i], b[j].x, b[j].y);
            }
          }
        }
      }
    };
    if constexpr (kChunks) {
#pragma unroll 1
      for (int first = 0; first < conv.source.blocks(); first += g.chunk_blocks) {
        do_chunk(first);
      }
    } else {
      do_chunk(0);
    }
    if constexpr (kFinish == Finish::upsampled) {
      // Long code, so it is a loop: each thread leaves its sums on the chip and takes them again.
      // It goes down its rows, which share rows of the small image.
      __syncthreads();
      float2* const staged = reinterpret_cast<float2*>(tile) + threadIdx.x;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          staged[((2 * i) * kColumns + j) * kThreadsOfTile] = {sums[i][j][0], sums[i][j][1]};
          staged[((2 * i + 1) * kColumns + j) * kThreadsOfTile] = {sums[i][j][2], sums[i][j][3]};
        }
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (finish.begin_column(j)) {
#pragma unroll 1
          for (int c = 0; c < 2 * kAcross; ++c) {
            float2 rows[OneFinish::kSmallRows];
            finish.read_small(c, rows);
#pragma unroll
            for (int r = 0; r < OneFinish::kRowsDown; ++r) {
              finish.template pixel<Results::any>(
                  r, c, staged[((r * 2 * kAcross + c) * kColumns + j) * kThreadsOfTile], fetched[0],
                  totals[j], OneFinish::upsampled_row(rows, r));
            }
          }
        }
      }
    } else {
      const auto finish_all = [&](auto results) {
        constexpr Results kResults = decltype(results)::value;
        const auto fetch = [&](int part) {
          if (finish.begin_column(part / kParts)) {
            finish.fetch(fetched[part % kFetchedParts], part % kParts, kResults != Results::any);
          }
        };
        if constexpr (kBeside > 0 && !kEarly) {
          fetch(0);
        }
#pragma unroll
        for (int part = 0; part < kColumns * kParts; ++part) {
          if constexpr (kBeside > 0 && kFetchedParts == 2) {
            if (part + 1 < kColumns * kParts) {
              fetch(part + 1);
            }
          } else if (kBeside > 0 && part > 0) {
            fetch(part);
          }
          const int j = part / kParts;
          if (finish.begin_column(j)) {
#pragma unroll
            for (int k = 0; k < OneFinish::kPart; ++k) {
              const int i = part % kParts * OneFinish::kPart + k;
              const float(&sum)[4] = sums[i / 2][j];
              finish.template pixel<kResults>(i / (2 * kAcross), i % (2 * kAcross),
                                              {sum[i % 2 * 2], sum[i % 2 * 2 + 1]},
                                              fetched[part % kFetchedParts], totals[j]);
            }
          }
        }
      };
      if (!whole || (!kWide && conv.out.format == Format::f32)) {  // edges, and scores
        finish_all(std::integral_constant<Results, Results::any>{});
      } else if constexpr (can_activate(kFinish)) {
        if (conv.sums.wanted()) {
          finish_all(std::integral_constant<Results, Results::summed>{});
        } else if (conv.slope != 1) {
          finish_all(std::integral_constant<Results, Results::activated>{});
        } else {
          finish_all(std::integral_constant<Results, Results::bare>{});
        }
      } else if constexpr (is_backward(kFinish)) {
        finish_all(std::integral_constant<Results, Results::summed>{});
      } else if (conv.sums.wanted()) {
        finish_all(std::integral_constant<Results, Results::summed>{});
      } else {
        finish_all(std::integral_constant<Results, Results::bare>{});
      }
    }
    walk = next;
  }
  if (!conv.sums.wanted()) {
    return;
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    join_pair_sums(totals[j], tables.sums + (warp * kColumns + j) * kBlock);
  }
  __syncthreads();
  const SumsGeometry geometry = g.sums();
  for (int i = threadIdx.x; i < geometry.channels; i += kThreadsOfTile) {
    PartialSums sum{0, 0};
    for (int w = 0; w < kWarpsOfTile; ++w) {
      sum.uv += tables.sums[w * geometry.channels + i].uv;
      sum.v += tables.sums[w * geometry.channels + i].v;
    }
    const std::int64_t block =
        (static_cast<std::int64_t>(slice) * geometry.columns + filter_group) * geometry.blocks +
        blockIdx.x;
    conv.sums.partials[block * geometry.channels + i] = sum;
  }
  finish_sums(conv.sums, geometry, slice, filter_group, reinterpret_cast<double*>(tile));
}

}  // namespace cosmic::target::cuda
