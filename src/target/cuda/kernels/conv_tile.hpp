// Convolutions of blocked images on tensor cores, a tile of pixels per block of threads. What the
// kernel is told, and how the work is cut up; conv_tile.cuh is the kernel.
//
// A convolution and its transpose are the same sum: pixel q of the result adds up, over taps, the
// pixel at q * stride + first + tap of the source times a matrix. A transpose with a stride falls
// into phases, one for each remainder of the result's place, with taps of their own; each is a
// work.
#pragma once

#include <algorithm>

#include "target/cuda/kernels/pixel_sums.hpp"

namespace cosmic::target::cuda {

struct Extents {
  int depth = 1;
  int rows = 1;
  int columns = 1;

  COSMIC_DEVICE int count() const { return depth * rows * columns; }
};

/// What the factors of products are.
enum class Products : std::uint8_t { bf16, f16, tf32, f32 };

COSMIC_DEVICE constexpr int channels_per_unit(Products products) {
  return products == Products::bf16 || products == Products::f16 ? 8 : 4;
}

COSMIC_DEVICE constexpr Format format_of(Products products) {
  return products == Products::bf16  ? Format::bf16
         : products == Products::f16 ? Format::f16
                                     : Format::f32;
}

/// What a kernel reads, by how its pixels come to the chip. All but the first have kernels of their
/// own, which know it when they are compiled.
enum class Source : std::uint8_t {
  interpreted,
  plain,          ///< one stored image as it is
  sum,            ///< of one stored image
  sums,           ///< of two
  bilinear,       ///< a sum of one image that is upsampled
  bilinear_sums,  ///< of one that is upsampled and one that is stored
  pooled,         ///< the largest of 2 x 2 pixels of a sum of one image
  spread,         ///< the taps of a single channel
  gradient,       ///< a long one of two stored images
  gradient3,      ///< of three
  gated,          ///< a short one: a stored image where another was activated
};

COSMIC_DEVICE inline Source source_of(const Recipe& recipe, Products products) {
  if (recipe.leaf[0].kind == Leaf::Kind::spread) {
    return Source::spread;
  }
  const Formula& formula = recipe.formula;
  for (int i = 0; i < recipe.leaves; ++i) {
    const Leaf& leaf = recipe.leaf[i];
    if (leaf.image.format != format_of(products) ||
        (leaf.kind != Leaf::Kind::stored && (leaf.kind != Leaf::Kind::bilinear || i > 0))) {
      return Source::interpreted;
    }
  }
  const bool bilinear = recipe.leaf[0].kind == Leaf::Kind::bilinear;
  const bool pools = recipe.pools();
  switch (formula.kind) {
    case Formula::Kind::none:
      break;
    case Formula::Kind::plain:
    case Formula::Kind::sum:
      if (pools) {
        return recipe.pool_depth == 1 && recipe.pool_rows == 2 && recipe.pool_columns == 2 &&
                       !formula.is_long && !bilinear
                   ? Source::pooled
                   : Source::interpreted;
      }
      if (bilinear) {
        return formula.is_long ? Source::bilinear_sums : Source::bilinear;
      }
      return formula.kind == Formula::Kind::plain ? Source::plain
             : formula.is_long                    ? Source::sums
                                                  : Source::sum;
    case Formula::Kind::gradient:
      if (!pools && !bilinear) {
        return !formula.is_long ? Source::gated
               : formula.c_is_b ? Source::gradient
                                : Source::gradient3;
      }
      break;
  }
  return Source::interpreted;
}

/// What becomes of a result, likewise: what is added to it, and what is summed up over it. What is
/// read for it lies as the result does.
enum class Finish : std::uint8_t {
  interpreted,
  forward,         ///< nothing is added; it is summed up as it is, if at all
  added,           ///< so with an image, perhaps scaled, shifted and activated
  gated_added,     ///< so with a gradient, where a second image was activated
  backward,        ///< summed up: an image, times the result where that image was activated; or
                   ///< the result alone
  backward_added,  ///< so with an image added
  backward_gated,  ///< so with a gradient added, where a second image was activated
  apart,  ///< as backward, but the image that is summed up is not the one that was activated
  apart_gated,
  upsampled,  ///< summed up: an image that is upsampled, times the result where it was activated
};

// The kernels that know what they read and what becomes of it. Each takes seconds to compile, so
// there are those that networks need where images are large (a test sees that none is in vain): in
// 16 bits all of them, in other formats the commonest. The rest is interpreted.
#define COSMIC_CUDA_COMMON_CONV_KERNELS(entry) \
  entry(plain, forward) entry(sum, forward) entry(plain, backward)
#define COSMIC_CUDA_OTHER_CONV_KERNELS(entry)                                                   \
  entry(bilinear, forward) entry(bilinear_sums, forward) entry(pooled, forward)                 \
      entry(spread, forward) entry(plain, added) entry(sum, added) entry(plain, backward_added) \
          entry(plain, backward_gated) entry(plain, upsampled) entry(plain, apart)              \
              entry(plain, apart_gated) entry(gradient, gated_added)

/// Is there a kernel that knows both?
COSMIC_DEVICE constexpr bool has_kernel(Products products, Source source, Finish finish) {
#define COSMIC_CUDA_IS(source_name, finish_name) \
  (source == Source::source_name && finish == Finish::finish_name) ||
  const bool is_common = COSMIC_CUDA_COMMON_CONV_KERNELS(COSMIC_CUDA_IS) false;
  const bool is_other = COSMIC_CUDA_OTHER_CONV_KERNELS(COSMIC_CUDA_IS) false;
#undef COSMIC_CUDA_IS
  return is_common || (is_other && channels_per_unit(products) == 8);
}

/// A unit is 16 bytes of a pixel, 8 narrow channels or 4 wide ones: what one row of a matrix is
/// loaded by. A matrix product takes two units of each of 16 pixels.
inline constexpr int kUnitBytes = 16;
inline constexpr int kWarpsOfTile = 8;
inline constexpr int kPixelsOfRow = 16;                   ///< of a matrix product
inline constexpr int kThreadsOfSums = kWarpsOfTile * 32;  ///< that join sums, two doubles each
/// Wanted of a launch, whatever the card: enough for the largest, few enough to be summed up.
inline constexpr int kBlocksOfLaunch = 1056;
/// So that two or three blocks fit on a multiprocessor.
inline constexpr int kTileBytes = 64 * 1024;
inline constexpr int kStagedTileBytes = 80 * 1024;
/// That a block can have on the smallest cards that are supported.
inline constexpr int kMostSharedBytes = 99 * 1024;

/// Images of a source that can be copied to the chip as they are stored, to be evaluated there.
/// Other sources are evaluated on their way.
COSMIC_DEVICE constexpr int staged_images(Source source) {
  switch (source) {
    case Source::plain:
    case Source::sum:
    case Source::bilinear_sums:
      return 1;
    case Source::sums:
    case Source::gradient:
    case Source::gated:
      return 2;
    case Source::gradient3:
      return 3;
    default:
      return 0;
  }
}
/// Is there one besides that is half as large?
COSMIC_DEVICE constexpr bool stages_small(Source source) {
  return source == Source::bilinear || source == Source::bilinear_sums;
}
/// Is the source of a convolution copied so? What needs no evaluation always is. With 8 filters
/// there is so little to multiply that reading and writing a tile once more takes longer than
/// waiting for one image of it. It was measured in bfloat16 only.
COSMIC_DEVICE constexpr bool is_staged(Products products, Source source, int filter_columns) {
  return source == Source::plain ||
         (products == Products::bf16 && (staged_images(source) > 0 || stages_small(source)) &&
          (source != Source::sum || filter_columns > 1));
}
/// Rows or columns of it that so many of a tile are made of, at most.
COSMIC_DEVICE constexpr int small_extent(int extent) {
  return extent / 2 + 2;
}

/// Where the tiles of a source lie on the chip: the tile that is multiplied, which the first image
/// is copied to and evaluated in; another one, if the next tile arrives while one is multiplied;
/// then the other images, and the small one.
struct TileBuffers {
  bool ahead = false;
  int tiles = 1;  ///< of the same size
  int tile_bytes = 0;
  int small_bytes = 0;

  COSMIC_DEVICE int bytes() const { return tiles * tile_bytes + small_bytes; }
  COSMIC_DEVICE int beside() const { return (ahead ? 2 : 1) * tile_bytes; }
  COSMIC_DEVICE int small() const { return tiles * tile_bytes; }
};

/// units: of 16 bytes, of a pixel. staged: it is copied as it is stored.
inline TileBuffers tile_buffers(Source source, bool staged, bool ahead, int rows, int columns,
                                int units) {
  TileBuffers buffers;
  buffers.ahead = ahead;
  buffers.tiles = (buffers.ahead ? 2 : 1) + (staged ? std::max(0, staged_images(source) - 1) : 0);
  buffers.tile_bytes = rows * columns * units * kUnitBytes;
  buffers.small_bytes = staged && stages_small(source)
                            ? small_extent(rows) * small_extent(columns) * units * kUnitBytes
                            : 0;
  return buffers;
}

/// Columns of 8 filters that a warp can have, and rows of 16 pixels: sums live in registers.
COSMIC_DEVICE constexpr int rows_of_warp(int filter_columns) {
  return filter_columns == 1 ? 8 : 4;
}
/// The same of kernels that know what they read, on large images: what a tile costs whatever its
/// size is shared by more pixels.
inline constexpr int kMostRowsOfWarp = 8;
COSMIC_DEVICE constexpr int most_rows_of_warp(int filter_columns) {
  return filter_columns <= 2 ? kMostRowsOfWarp : 4;
}

struct ConvTileGeometry {
  int filter_columns = 1;              ///< of 8 filters, that a block computes
  int filter_groups = 1;               ///< blocks that share the filters
  int warps_over_rows = kWarpsOfTile;  ///< the others share the products of the same pixels
  int warp_rows = kMostRowsOfWarp;     ///< of 16 pixels, that each warp has
  int tile_rows = 1;
  int tile_columns = kPixelsOfRow;
  int source_rows = 1;  ///< of the tile with what surrounds it
  int source_columns = 1;
  int chunk_blocks = 1;  ///< channel blocks that are on the chip together
  int chunks = 1;
  int tiles_down = 1;
  int tiles_across = 1;
  int slices = 1;  ///< of the images; a block works in one
  int images_of_slice = 1;
  int tiles_of_block = 1;
  int blocks = 1;  ///< of a slice and filter group
  TileBuffers buffers;
  int shared_bytes = 0;

  COSMIC_DEVICE int tiles_of_slice() const { return images_of_slice * tiles_down * tiles_across; }
  COSMIC_DEVICE SumsGeometry sums() const {
    return {slices, filter_groups, blocks, filter_columns * kBlock};
  }
};

struct ConvTile {
  Recipe source;
  Recipe addend;  ///< or none
  PixelSums sums;
  const std::uint32_t* weights = nullptr;  ///< see PackWeightsBody
  const float* bias = nullptr;             ///< or null
  float slope = 1;                         ///< of the activation of the result; 1: none
  Format bias_format = Format::f32;        ///< that it is rounded to
  Products products = Products::f32;
  Image out;
  Extents taps;
  Extents stride;
  Extents first;     ///< place of the first tap, from the pixel
  Extents result;    ///< pixels computed, of an image
  Extents out_step;  ///< from one of them to the next in `out`
  Extents out_first;
  int batch = 1;
  ConvTileGeometry geometry;

  COSMIC_DEVICE int units_of_block() const { return kBlock / channels_per_unit(products); }
  COSMIC_DEVICE int blocks_of_chunk(int chunk) const {
    const int left = source.blocks() - chunk * geometry.chunk_blocks;
    return left < geometry.chunk_blocks ? left : geometry.chunk_blocks;
  }
  /// Products of two units in a slice of a chunk.
  COSMIC_DEVICE int steps_of_chunk(int chunk) const {
    return (taps.rows * taps.columns * blocks_of_chunk(chunk) * units_of_block() + 1) / 2;
  }
  COSMIC_DEVICE int steps_of_slice() const {
    return (geometry.chunks - 1) * steps_of_chunk(0) + steps_of_chunk(geometry.chunks - 1);
  }
  COSMIC_DEVICE int steps() const { return taps.depth * steps_of_slice(); }
  /// 32-bit words of the packed weights.
  COSMIC_DEVICE std::int64_t packed_words() const {
    return static_cast<std::int64_t>(geometry.filter_groups) * steps() * geometry.filter_columns *
           64;
  }
};

COSMIC_DEVICE constexpr int ceil_of(int a, int b) {
  return (a + b - 1) / b;
}

/// Kernels exist for 1 to this many columns of filters.
constexpr int kMostFilterColumns = 4;

/// Columns of each block, if `all` are shared out evenly.
constexpr int filter_columns_for(int all) {
  return ceil_of(all, ceil_of(all, kMostFilterColumns));
}

/// Can a kernel that knows what it reads have its channels in chunks? Sums are then kept
/// while others are loaded, for which there is no room where several blocks share the registers.
COSMIC_DEVICE constexpr bool knows_chunks(int filter_columns) {
  return filter_columns > 2;
}

/// Which kernel a convolution has. Those that know what they read want the depth in one slice,
/// whole rows of a tile for each warp, and a result of 16 bytes a pixel (32 with wide factors).
struct ConvKernel {
  Source source = Source::interpreted;
  Finish finish = Finish::interpreted;
};

COSMIC_DEVICE inline ConvKernel kernel_of(const ConvTile& conv) {
  const ConvTileGeometry& g = conv.geometry;
  const Source source = source_of(conv.source, conv.products);
  const Image& out = conv.out;
  const PixelSums& sums = conv.sums;
  if (source == Source::interpreted || (g.chunks > 1 && !knows_chunks(g.filter_columns)) ||
      conv.taps.depth > 1 || conv.result.depth > 1 || g.warps_over_rows < kWarpsOfTile ||
      g.tile_columns != 2 * kPixelsOfRow || conv.stride.rows * conv.stride.columns > 1 ||
      conv.out_step.rows * conv.out_step.columns > 1 ||
      out.lanes * size_of(out.format) != conv.units_of_block() * kUnitBytes) {
    return {};
  }
  const auto is_alike = [&](const Recipe& recipe, int leaf) {
    const Image& image = recipe.leaf[leaf].image;
    return recipe.leaf[leaf].kind == Leaf::Kind::stored && image.format == out.format &&
           image.lanes == out.lanes;
  };
  enum class Addend { none, stored, gated, other } addend = Addend::none;
  if (conv.addend.exists()) {
    const Formula& formula = conv.addend.formula;
    addend = Addend::other;
    if (!formula.is_long && !conv.addend.pools() && is_alike(conv.addend, 0)) {
      if (formula.kind == Formula::Kind::plain || formula.kind == Formula::Kind::sum) {
        addend = Addend::stored;
      } else if (formula.kind == Formula::Kind::gradient && is_alike(conv.addend, 1)) {
        addend = Addend::gated;
      }
    }
  }
  Finish finish = Finish::interpreted;
  if (!sums.u.exists() && !sums.v.exists()) {
    finish = addend == Addend::none     ? Finish::forward
             : addend == Addend::stored ? Finish::added
             : addend == Addend::gated  ? Finish::gated_added
                                        : Finish::interpreted;
  } else if ((sums.wanted() && sums.u_gates_v() && is_alike(sums.u, 0)) ||
             (sums.sums_gated_result() && is_alike(sums.v, 1))) {
    finish = addend == Addend::none     ? Finish::backward
             : addend == Addend::stored ? Finish::backward_added
             : addend == Addend::gated  ? Finish::backward_gated
                                        : Finish::interpreted;
  } else if (sums.wanted() && sums.gates_result() && sums.u.exists() && is_alike(sums.u, 0) &&
             sums.u.formula.kind == Formula::Kind::plain && is_alike(sums.v, 1)) {
    finish = addend == Addend::none    ? Finish::apart
             : addend == Addend::gated ? Finish::apart_gated
                                       : Finish::interpreted;
  } else if (sums.wanted() && sums.u_gates_v() && addend == Addend::none &&
             sums.u.leaf[0].kind == Leaf::Kind::bilinear &&
             sums.u.leaf[0].image.format == out.format) {
    finish = Finish::upsampled;
  }
  const bool is_forward = finish == Finish::forward || finish == Finish::added;
  // Scores: float32 of narrow factors.
  const bool are_scores = out.format != format_of(conv.products);
  if (finish == Finish::interpreted || (conv.slope != 1 && (!is_forward || sums.wanted())) ||
      (are_scores && !is_forward) || !has_kernel(conv.products, source, finish)) {
    return {};
  }
  return {source, finish};
}

/// Bytes on the chip, in the order in which they lie there.
struct ConvTileMemory {
  int tables;   ///< of source, addend, u and v
  int offsets;  ///< of units
  int bias;
  int sums;
  int tile;
  int bytes;
};

inline COSMIC_DEVICE ConvTileMemory conv_tile_memory(const ConvTile& conv) {
  const ConvTileGeometry& g = conv.geometry;
  const auto aligned = [](int bytes) { return (bytes + 127) / 128 * 128; };
  ConvTileMemory memory{};
  const int pairs = conv.source.table_pairs() + conv.addend.table_pairs() +
                    conv.sums.u.table_pairs() + conv.sums.v.table_pairs();
  memory.tables = 0;
  memory.offsets = aligned(pairs * static_cast<int>(sizeof(Pair)));
  const int steps = conv.steps_of_chunk(0);
  memory.bias = memory.offsets + aligned(2 * steps * 4);
  memory.sums = memory.bias + aligned(g.filter_columns * kBlock * 4);
  const int sum_bytes = 2 * kWarpsOfTile * g.filter_columns * kBlock * 8;
  memory.tile = memory.sums + aligned(sum_bytes);
  const int tile_bytes = g.buffers.bytes();
  // What the warps that share pixels add up goes through the same memory, as do results and the
  // last sums.
  const int shared_sums = g.warps_over_rows == kWarpsOfTile
                              ? 0
                              : kWarpsOfTile * g.warp_rows * g.filter_columns * 4 * 32 * 4;
  // Interpreted results, and those with upsampled sums.
  const bool passes =
      kernel_of(conv).finish == Finish::interpreted || kernel_of(conv).finish == Finish::upsampled;
  const int staged =
      !passes ? kThreadsOfSums * static_cast<int>(2 * sizeof(double))
              : g.warps_over_rows * g.warp_rows * g.filter_columns * kPixelsOfRow * kBlock * 4;
  const int most = tile_bytes > shared_sums ? tile_bytes : shared_sums;
  memory.bytes = memory.tile + (most > staged ? most : staged);
  return memory;
}

/// Everything but the geometry is known. tall: as many rows for each warp as there can be.
inline ConvTileGeometry conv_tile_geometry(const ConvTile& conv, int slices, bool tall) {
  ConvTileGeometry g;
  const int columns_of_filters = ceil_of(conv.out.channels, kBlock);
  const int images = conv.batch * conv.result.depth;
  const int unit_bytes_of_block = conv.units_of_block() * kUnitBytes;
  g.slices = slices;
  g.images_of_slice = images / slices;
  g.tile_columns = conv.result.columns > kPixelsOfRow ? 2 * kPixelsOfRow : kPixelsOfRow;
  const auto choose = [&](int filter_columns, int warps_over_rows) {
    g.filter_columns = filter_columns;
    g.filter_groups = ceil_of(columns_of_filters, filter_columns);
    g.warps_over_rows = warps_over_rows;
    g.warp_rows = tall ? most_rows_of_warp(filter_columns) : rows_of_warp(filter_columns);
    const int pixels = warps_over_rows * g.warp_rows * kPixelsOfRow;
    g.tile_columns = std::min(g.tile_columns, pixels);
    g.tile_rows = pixels / g.tile_columns;
    g.tiles_down = ceil_of(conv.result.rows, g.tile_rows);
    g.tiles_across = ceil_of(conv.result.columns, g.tile_columns);
    g.source_rows = (g.tile_rows - 1) * conv.stride.rows + conv.taps.rows;
    g.source_columns = (g.tile_columns - 1) * conv.stride.columns + conv.taps.columns;
    return images * g.tiles_down * g.tiles_across * g.filter_groups;
  };
  const int filter_columns = filter_columns_for(columns_of_filters);
  // Small images: fewer pixels a block, then fewer filters, until there is work for everyone.
  // Rows of 32 pixels are multiplied so much faster that fewer blocks do.
  const int enough = g.tile_columns > kPixelsOfRow ? 64 : 132;
  int warps = kWarpsOfTile;
  int filters = filter_columns;
  while (choose(filters, warps) < enough && (warps > 1 || filters > 2)) {
    if (warps > 1) {
      warps /= 2;
    } else {
      filters = 2;
    }
  }
  // A source that does not fit on the chip with its surroundings: fewer rows.
  while (g.source_rows * g.source_columns * unit_bytes_of_block > kTileBytes && warps > 1) {
    warps /= 2;
    choose(filters, warps);
  }
  // All channels at once, the next tile arriving meanwhile; else in chunks, if kernels can; else
  // without the next tile.
  const Source source = source_of(conv.source, conv.products);
  // Upsampled sums: the results pass through the memory of the tile.
  const bool may_be_ahead = conv.sums.u.leaf[0].kind != Leaf::Kind::bilinear;
  const int all_blocks = conv.source.blocks();
  ConvTile tried = conv;
  const auto fits = [&](int chunk_blocks, bool ahead) {
    const bool staged = is_staged(conv.products, source, g.filter_columns);
    g.chunk_blocks = chunk_blocks;
    g.chunks = ceil_of(all_blocks, chunk_blocks);
    g.buffers = tile_buffers(source, staged, ahead && staged && may_be_ahead, g.source_rows,
                             g.source_columns, chunk_blocks * conv.units_of_block());
    tried.geometry = g;
    return g.buffers.bytes() <= (staged ? kStagedTileBytes : kTileBytes) &&
           conv_tile_memory(tried).bytes <= kMostSharedBytes;
  };
  const auto choose_chunks = [&] {
    if (fits(all_blocks, true) || (!knows_chunks(g.filter_columns) && fits(all_blocks, false))) {
      return true;
    }
    for (int chunks = 2; chunks <= all_blocks; ++chunks) {
      if (fits(ceil_of(all_blocks, chunks), true)) {
        return true;
      }
    }
    return false;
  };
  // Numbers of very many channels leave room for few filters and pixels.
  while (!choose_chunks() && (filters > 2 || warps > 1)) {
    if (filters > 2) {
      filters = 2;
    } else {
      warps /= 2;
    }
    choose(filters, warps);
  }
  const int wanted = std::max(1, kBlocksOfLaunch / (slices * g.filter_groups));
  g.tiles_of_block = ceil_of(g.tiles_of_slice(), wanted);
  g.blocks = ceil_of(g.tiles_of_slice(), g.tiles_of_block);
  return g;
}

inline ConvTileGeometry conv_tile_geometry(const ConvTile& conv, int slices) {
  constexpr int kPlenty = 264;  // tiles: two for each multiprocessor of the largest cards
  ConvTile tried = conv;
  tried.geometry = conv_tile_geometry(conv, slices, true);
  const ConvTileGeometry& g = tried.geometry;
  const bool is_known = kernel_of(tried).source != Source::interpreted;
  return is_known && g.slices * g.tiles_of_slice() * g.filter_groups >= kPlenty
             ? g
             : conv_tile_geometry(conv, slices, false);
}

/// i: a word of the packed weights, which are what each thread of a warp needs for its products:
/// [filter group][depth tap][chunk][step][filter column][thread][2 words]. Steps have two units
/// each, in the order [unit of the chunk][tap], so that a chunk of fewer begins as others do. A
/// word is two narrow channels of a unit or a wide one; thread 4 g + k has filter g and channels k
/// of both units.
struct PackWeightsBody {
  const float* kernel;
  Format format;  ///< that weights are rounded to
  std::uint32_t* packed;
  Products products;
  int filters;
  int channels;  ///< as the packed form counts them; a spread source has 8
  int filter_columns;
  int chunk_blocks;
  int chunks;
  int steps_of_first_chunk;
  int steps_of_last_chunk;
  Extents taps;
  std::int64_t filter_stride;   ///< of the kernel in memory
  std::int64_t channel_stride;  ///< likewise
  Extents tap_first;            ///< of the kernel, for the first tap
  Extents tap_step;             ///< of the kernel, from tap to tap
  Extents kernel_taps;          ///< of the kernel in memory
  int spread_taps;              ///< of a spread source: taps in a row; else 0

  COSMIC_DEVICE float weight(int filter, int channel, int d, int r, int c) const {
    if (filter >= filters) {
      return 0;
    }
    int column = tap_first.columns + c * tap_step.columns;
    if (spread_taps > 0) {
      if (channel >= spread_taps) {
        return 0;
      }
      column = channel;
      channel = 0;
    } else if (channel >= channels) {
      return 0;
    }
    const int depth = tap_first.depth + d * tap_step.depth;
    const int row = tap_first.rows + r * tap_step.rows;
    const std::int64_t tap =
        (static_cast<std::int64_t>(depth) * kernel_taps.rows + row) * kernel_taps.columns + column;
    return rounded_to(kernel[filter * filter_stride + channel * channel_stride + tap], format);
  }

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const int word = static_cast<int>(i & 1);
    const int lane = static_cast<int>(i >> 1 & 31);
    const Division column = divide(i >> 6, filter_columns);
    const int slice_steps = (chunks - 1) * steps_of_first_chunk + steps_of_last_chunk;
    const Division step = divide(column.whole, slice_steps);
    const Division depth = divide(step.whole, taps.depth);
    int chunk = static_cast<int>(step.rest) / steps_of_first_chunk;
    chunk = chunk < chunks ? chunk : chunks - 1;
    const int in_chunk = static_cast<int>(step.rest) - chunk * steps_of_first_chunk;
    const int per_unit = channels_per_unit(products);
    const int blocks =
        chunk + 1 < chunks ? chunk_blocks : (channels + kBlock - 1) / kBlock - chunk * chunk_blocks;
    const int units = blocks * kBlock / per_unit;
    const int taps_of_slice = taps.rows * taps.columns;
    const int unit_of_chunk = 2 * in_chunk + word;
    const int filter =
        static_cast<int>(depth.whole * filter_columns + column.rest) * kBlock + lane / 4;
    if (unit_of_chunk >= taps_of_slice * units) {
      packed[i] = 0;
      return;
    }
    const int tap = unit_of_chunk % taps_of_slice;
    const int unit = chunk * chunk_blocks * kBlock / per_unit + unit_of_chunk / taps_of_slice;
    const int d = static_cast<int>(depth.rest);
    const int r = tap / taps.columns;
    const int c = tap % taps.columns;
    if (per_unit == kBlock) {
      const int channel = unit * kBlock + 2 * (lane % 4);
      const Format narrow = products == Products::bf16 ? Format::bf16 : Format::f16;
      const float pair[2] = {weight(filter, channel, d, r, c),
                             weight(filter, channel + 1, d, r, c)};
      packed[i] = pack<2>(pair, narrow).word[0];
    } else {
      packed[i] = bits_of(weight(filter, unit * 4 + lane % 4, d, r, c));
    }
  }
};

}  // namespace cosmic::target::cuda
