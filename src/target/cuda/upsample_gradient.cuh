// The adjoint of a bilinear upsampling by two, for gradients that have a formula. A block of
// threads evaluates the gradient once for each pixel of a tile of the large image, and each small
// pixel gathers from there what it gave to 4 x 4 of them. Without it, each would evaluate all 16.
#pragma once

#include "target/cuda/known_pixels.cuh"

namespace cosmic::target::cuda {

inline constexpr int kSmallTile = 16;                  ///< rows and columns, a thread each
inline constexpr int kLargeTile = 2 * kSmallTile + 2;  ///< with what surrounds it

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

template <Products kFormat, bool kPlain>
__global__ void __launch_bounds__(kThreadsOfTile, 3)
    upsample_gradient_kernel(const __grid_constant__ UpsampleGradientPixelsBody body) {
  static_assert(kSmallTile * kSmallTile == kThreadsOfTile);
  __shared__ float4 large[2][kLargeTile * kLargeTile];
  COSMIC_CHIP_MEMORY(chip);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  const Recipe& dy = body.dy;
  const Image& dx = body.dx;
  const int image = blockIdx.y;
  const int block = blockIdx.z;
  const int tiles_across = (dx.columns + kSmallTile - 1) / kSmallTile;
  const int first_row = static_cast<int>(blockIdx.x) / tiles_across * kSmallTile;
  const int first_column = static_cast<int>(blockIdx.x) % tiles_across * kSmallTile;
  fill_table(dy, image / dx.depth, table);
  __syncthreads();
  const GradientValue value(dy, table, block);
  const std::byte* const gradients = plane_of<kFormat>(dy.leaf[0].image, image, block);
  const std::byte* const images =
      kPlain ? nullptr : plane_of<kFormat>(dy.leaf[1].image, image, block);
  // Pixels of rows 2 q - 1 and 2 q, and of such columns, lie between the same four small ones.
  constexpr int kQuads = kLargeTile / 2;
#pragma unroll 1
  for (int quad = threadIdx.x; quad < kQuads * kQuads; quad += kThreadsOfTile) {
    const int small_row = first_row + quad / kQuads;
    const int small_column = first_column + quad % kQuads;
    RawBlock<kFormat> corner[4];
    if constexpr (!kPlain) {
      const Image& x = dy.leaf[1].image;
      const int low = min(max(small_row - 1, 0), x.rows - 1) * x.columns;
      const int high = min(small_row, x.rows - 1) * x.columns;
      const int left = min(max(small_column - 1, 0), x.columns - 1);
      const int right = min(small_column, x.columns - 1);
      corner[0].load(images, low + left);
      corner[1].load(images, low + right);
      corner[2].load(images, high + left);
      corner[3].load(images, high + right);
    }
    RawBlock<kFormat> gradient[4];
    bool inside[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int row = 2 * small_row - 1 + k / 2;
      const int column = 2 * small_column - 1 + k % 2;
      inside[k] = row >= 0 && row < dy.rows && column >= 0 && column < dy.columns;
      gradient[k].load(gradients, inside[k] ? row * dy.columns + column : 0);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float4 out[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float down_beyond = k / 2 == 0 ? 0.25F : 0.75F;
        const float across_beyond = k % 2 == 0 ? 0.25F : 0.75F;
        float2 pairs[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int w = 2 * half + i;
          pairs[i] = gradient[k].pair(w);
          if constexpr (!kPlain) {
            const float2 c0 = corner[0].pair(w);
            const float2 c1 = corner[1].pair(w);
            const float2 c2 = corner[2].pair(w);
            const float2 c3 = corner[3].pair(w);
            const float2 upsampled = {between(c0.x, c1.x, c2.x, c3.x, down_beyond, across_beyond),
                                      between(c0.y, c1.y, c2.y, c3.y, down_beyond, across_beyond)};
            const float2 both[2] = {pairs[i], upsampled};
            pairs[i] = value(value.numbers(w), both);
          }
        }
        out[k] = inside[k] ? float4{pairs[0].x, pairs[0].y, pairs[1].x, pairs[1].y} : float4{};
      }
      const int p = quad / kQuads * 2 * kLargeTile + quad % kQuads * 2;
      large[half][p] = out[0];
      large[half][p + 1] = out[1];
      large[half][p + kLargeTile] = out[2];
      large[half][p + kLargeTile + 1] = out[3];
    }
  }
  __syncthreads();
  const int r = static_cast<int>(threadIdx.x) / kSmallTile;
  const int c = static_cast<int>(threadIdx.x) % kSmallTile;
  const int row = first_row + r;
  const int column = first_column + c;
  if (row >= dx.rows || column >= dx.columns) {
    return;
  }
  // What lies outside is zero, whatever its share.
  float column_share[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int at = 2 * column - 1 + k;
    column_share[k] = at >= 0 ? share_of(at, column, dx.columns) : 0.0F;
  }
  float sum[kBlock] = {};
#pragma unroll
  for (int down = 0; down < 4; ++down) {
    const int at = 2 * row - 1 + down;
    const float row_share = at >= 0 ? share_of(at, row, dx.rows) : 0.0F;
#pragma unroll
    for (int across = 0; across < 4; ++across) {
      const float share = row_share * column_share[across];
      const int p = (2 * r + down) * kLargeTile + 2 * c + across;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float4 numbers = large[half][p];
        sum[4 * half] += share * numbers.x;
        sum[4 * half + 1] += share * numbers.y;
        sum[4 * half + 2] += share * numbers.z;
        sum[4 * half + 3] += share * numbers.w;
      }
    }
  }
  write_vector(dx, image, block, row * dx.columns + column, sum);
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
