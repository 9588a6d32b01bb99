// The adjoint of a bilinear upsampling by two, for gradients that have a formula. Each pixel of the
// large image is read and evaluated once, by the thread that has its quad (upsampled_quads.cuh),
// which gives to the four small pixels around it: it keeps what the next row of quads adds to, and
// hands the rest to its neighbour. Without it, each small pixel would evaluate 16 large ones.
#pragma once

#include "target/cuda/known_pixels.cuh"
#include "target/cuda/upsampled_quads.cuh"

namespace cosmic::target::cuda {

/// How such a gradient is stored, or interpreted where this kernel is not for it.
struct UpsampleGradientForm {
  bool known = false;
  bool plain = false;  ///< as it is stored; else through an activation and a normalisation of the
                       ///< upsampled image
};

inline UpsampleGradientForm form_of(const UpsampleGradientPixelsBody& body) {
  const Recipe& dy = body.dy;
  const Formula& formula = dy.formula;
  UpsampleGradientForm form;
  const Format format = body.dx.format;
  if (!body.bilinear || body.factor.depth != 1 || dy.pools() || body.dx.lanes != kBlock ||
      body.dx.images > kMostImages) {
    return form;
  }
  for (int i = 0; i < dy.leaves; ++i) {
    if (dy.leaf[i].image.format != format) {
      return form;
    }
  }
  form.plain = formula.kind == Formula::Kind::plain;
  form.known = (form.plain && dy.leaf[0].kind == Leaf::Kind::stored) ||
               (formula.kind == Formula::Kind::gradient && formula.is_long && formula.c_is_b &&
                dy.leaf[0].kind == Leaf::Kind::stored && dy.leaf[1].kind == Leaf::Kind::bilinear);
  return form;
}

/// How the small image is shared out: a warp has a column of quads each thread, which is a pixel of
/// the small image but for the last thread, and goes down some rows.
struct UpsampleStrips {
  static constexpr int kColumns = 31;
  static constexpr int kMostRows = 16;  ///< few of the rows are then read by two warps

  int across;
  int down;
  int rows;  ///< of the small image, of a warp

  COSMIC_DEVICE explicit UpsampleStrips(const Image& dx)
      : across(ceil_of(dx.columns, kColumns)), down(ceil_of(dx.rows, kMostRows)), rows(kMostRows) {
    // Small images: fewer rows each, until there is work for everyone.
    constexpr int kEnough = 2112;  // warps: 16 for each multiprocessor of the largest cards
    while (rows > 2 && dx.images * dx.blocks() * across * down < kEnough) {
      rows /= 2;
      down = ceil_of(dx.rows, rows);
    }
  }
  COSMIC_DEVICE int blocks_of_plane() const { return ceil_of(across * down, kWarpsOfTile); }
};

/// Four times the shares that the small pixels on both sides of a quad have in its two pixels along
/// an axis: first that of the one before the quad in the first pixel and in the second, then of the
/// one behind it. What lies outside has none, and where there is but one small pixel it has all.
struct QuadShares {
  float before[2];
  float behind[2];

  __device__ QuadShares(int quad, int extent)
      : before{quad == 0        ? 0.0F
               : quad < extent  ? 3.0F
               : quad == extent ? 4.0F
                                : 0.0F,
               quad == 0 || quad >= extent ? 0.0F : 1.0F},
        behind{quad == 0 || quad >= extent ? 0.0F : 1.0F, quad == 0       ? 4.0F
                                                          : quad < extent ? 3.0F
                                                                          : 0.0F} {}
};

template <Products kFormat, bool kPlain>
__global__ void __launch_bounds__(kThreadsOfTile, 2)
    upsample_gradient_kernel(const __grid_constant__ UpsampleGradientPixelsBody body) {
  COSMIC_CHIP_MEMORY(chip);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  const Recipe& dy = body.dy;
  const Image& dx = body.dx;
  const int image = blockIdx.y;
  const int block = blockIdx.z;
  const UpsampleStrips strips(dx);
  const int lane = threadIdx.x % 32;
  const int strip = blockIdx.x * kWarpsOfTile + threadIdx.x / 32;
  fill_table(dy, image / dx.depth, table);
  __syncthreads();
  if (strip >= strips.across * strips.down) {
    return;
  }
  const GradientValue value(dy, table, block);
  const std::byte* const gradients = plane_of<kFormat>(dy.leaf[0].image, image, block);
  std::byte* const out = const_cast<std::byte*>(plane_of<kFormat>(dx, image, block));
  const int column = strip % strips.across * UpsampleStrips::kColumns + lane;
  const int first_row = strip / strips.across * strips.rows;
  const int last_row = min(first_row + strips.rows, dx.rows);
  const bool writes = lane < UpsampleStrips::kColumns && column < dx.columns;
  const QuadShares across(column, dx.columns);
  // Of a quad; what lies outside is any other pixel.
  const int left = min(max(2 * column - 1, 0), dy.columns - 1);
  const int right = min(2 * column, dy.columns - 1);
  QuadColumn<kFormat> upsampled;
  if constexpr (!kPlain) {
    const Image& x = dy.leaf[1].image;
    upsampled = QuadColumn<kFormat>(x, plane_of<kFormat>(x, image, block), column);
    upsampled.begin(upsampled.row(first_row - 1));
  }
  // What both columns of pixels of the quad above have given to the row of small pixels below it.
  float2 given[kBlock / 2][2] = {};
#pragma unroll 1
  for (int q = first_row; q <= last_row; ++q) {
    RawBlock<kFormat> gradient[4];
    const int upper = max(2 * q - 1, 0) * dy.columns;
    const int lower = min(2 * q, dy.rows - 1) * dy.columns;
    gradient[0].load(gradients, upper + left);
    gradient[1].load(gradients, upper + right);
    gradient[2].load(gradients, lower + left);
    gradient[3].load(gradients, lower + right);
    typename QuadColumn<kFormat>::Row below;
    if constexpr (!kPlain) {
      below = upsampled.row(q);
    }
    const QuadShares down(q, dx.rows);
    RawBlock<kFormat> sums;
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      float2 pixel[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        pixel[k] = gradient[k].pair(w);
      }
      if constexpr (!kPlain) {
        float2 x[4];
        upsampled.pixels(below, w, x);
        const auto numbers = value.numbers(w);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const float2 both[2] = {pixel[k], x[k]};
          pixel[k] = value(numbers, both);
        }
      }
      // Down first, which is then done for both columns of pixels, and across once for each row.
      float2 total[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const float2 a = pixel[k];
        const float2 b = pixel[2 + k];
        total[k] = {given[w][k].x + down.before[0] * a.x + down.before[1] * b.x,
                    given[w][k].y + down.before[0] * a.y + down.before[1] * b.y};
        given[w][k] = {down.behind[0] * a.x + down.behind[1] * b.x,
                       down.behind[0] * a.y + down.behind[1] * b.y};
      }
      const auto share_of_both = [&](const float(&share)[2]) {
        return float2{share[0] * total[0].x + share[1] * total[1].x,
                      share[0] * total[0].y + share[1] * total[1].y};
      };
      const float2 before = share_of_both(across.before);
      float2 sum = share_of_both(across.behind);
      // The small pixel behind this quad is the one before the next thread's.
      sum.x += __shfl_down_sync(0xffffffffU, before.x, 1);
      sum.y += __shfl_down_sync(0xffffffffU, before.y, 1);
      sums.set(w, {sum.x * (1.0F / 16), sum.y * (1.0F / 16)});
    }
    if (q > first_row && writes) {
      sums.store(out, (q - 1) * dx.columns + column);
    }
  }
}

/// Calls visit(kernel) where there is one for this work, and `otherwise` where there is not.
template <class Visit, class Otherwise>
CudaError with_upsample_gradient(const UpsampleGradientPixelsBody& body, const Visit& visit,
                                 const Otherwise& otherwise) {
  const UpsampleGradientForm form = form_of(body);
  if (!form.known) {
    return otherwise();
  }
  return with_format(body.dx.format, [&](auto format) -> CudaError {
    return form.plain ? visit(upsample_gradient_kernel<decltype(format)::value, true>)
                      : visit(upsample_gradient_kernel<decltype(format)::value, false>);
  });
}

}  // namespace cosmic::target::cuda
