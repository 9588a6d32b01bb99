// Arithmetic on runs of blocked pixels ([pixel][8 channels]) that is not convolution: what stands
// between two convolutions. All pointers are 32-byte aligned unless said otherwise; `pixels` counts
// pixels, so 8 * pixels floats. Destinations may be one of the sources unless said otherwise.
#pragma once

#include <cstdint>

namespace cosmic::target::cpu {

// --- pointwise; scale and shift are eight floats, one per channel of the block ---

/// leaky(x * scale + shift); slope 1 is the plain affine map.
void affine_leaky(float* out, const float* x, const float* scale, const float* shift, float slope,
                  std::int64_t pixels);
void leaky(float* out, const float* x, float slope, std::int64_t pixels);
/// leaky(a + b); slope 1 is the plain sum.
void add_leaky(float* out, const float* a, const float* b, float slope, std::int64_t pixels);
/// leaky(x * scale + shift) + b.
void affine_leaky_add(float* out, const float* x, const float* scale, const float* shift,
                      float slope, const float* b, std::int64_t pixels);
/// leaky(x * scale + shift + b).
void affine_add_leaky(float* out, const float* x, const float* scale, const float* shift,
                      const float* b, float slope, std::int64_t pixels);
/// dy where x > 0, slope * dy elsewhere.
void leaky_gradient(float* out, const float* x, const float* dy, float slope, std::int64_t pixels);
/// leaky_gradient at x * scale + shift, without storing that.
void affine_leaky_gradient(float* out, const float* x, const float* scale, const float* shift,
                           float slope, const float* dy, std::int64_t pixels);
/// dy * p + x * q + r: what is left of a batch norm's backward pass once its sums are known.
void combine(float* out, const float* dy, const float* x, const float* p, const float* q,
             const float* r, std::int64_t pixels);
/// combine(affine_leaky_gradient(x, dy), x): the two above in one go.
void affine_leaky_gradient_combine(float* out, const float* x, const float* scale,
                                   const float* shift, float slope, const float* dy, const float* p,
                                   const float* q, const float* r, std::int64_t pixels);

// --- reductions; sums are eight doubles per channel block, added to ---

/// sum += x - pivot; square += (x - pivot)^2. A pivot near the mean keeps the variance accurate.
void add_moments(const float* x, const float* pivot, std::int64_t pixels, double* sum,
                 double* square);
/// sum += dy; product += dy * x.
void add_products(const float* x, const float* dy, std::int64_t pixels, double* sum,
                  double* product);
void add_sums(const float* x, std::int64_t pixels, double* sum);

// --- resampling; pixels counts output pixels, output never overlaps input ---

/// Largest of a window_rows x window_columns window (stride = window). rows: window_rows pointers.
void max_pool_row(float* out, const float* const* rows, std::int64_t window_rows,
                  std::int64_t window_columns, std::int64_t pixels);
/// Sends dy to the first largest pixel of each window, in row-major order, zero to the others.
/// Writes window_rows output rows; pixels counts pooled pixels. Columns beyond the last whole
/// window are the caller's.
void max_pool_gradient_rows(float* const* out, const float* const* rows, const float* dy,
                            std::int64_t window_rows, std::int64_t window_columns,
                            std::int64_t pixels);
/// One output row of bilinear x2 along columns, after blending two source rows:
/// s = near * (1 - far_weight) + far * far_weight, then out[2i], out[2i+1] from s with clamped
/// edges (align_corners = false). Computes output pixels [first, first + pixels) of a row whose
/// source has source_width pixels; `out` points at output pixel `first`.
void upsample_bilinear_row(float* out, const float* near, const float* far, float far_weight,
                           std::int64_t source_width, std::int64_t first, std::int64_t pixels);
/// Adjoint of the column part: out[i] += weight * (sum of the dy pixels that read source pixel i).
/// dy has 2 * source_width pixels; out has source_width pixels and is added to.
void add_upsample_bilinear_gradient_row(float* out, const float* dy, float weight,
                                        std::int64_t source_width);
/// out[i] = x[(first + i) / factor].
void upsample_nearest_row(float* out, const float* x, std::int64_t factor, std::int64_t first,
                          std::int64_t pixels);
/// out[i] += sum of dy[factor * i ... factor * i + factor - 1].
void add_upsample_nearest_gradient_row(float* out, const float* dy, std::int64_t factor,
                                       std::int64_t source_width);

// --- pixel classification; logits are blocked rows with `classes` (at most 8) real channels ---

/// What one pass over the logits of an image adds up; doubles, so that counts stay exact.
struct PixelSums {
  double weighted_loss = 0;  ///< sum of w * cross entropy
  double weight = 0;         ///< sum of w
  double correct = 0;        ///< argmax == label (ties to the lowest class)
  double foreground = 0;     ///< label != 0
  double foreground_correct = 0;
  double intersection[2] = {0, 0};  ///< classes 1 and 2: predicted and labelled
  double either[2] = {0, 0};        ///< classes 1 and 2: predicted or labelled
};
/// w = class_weights[label], times (1 - p_label)^2 / 3 if focal.
void add_pixel_sums(const float* logits, const std::uint8_t* labels, std::int64_t classes,
                    const float* class_weights, bool focal, std::int64_t pixels, PixelSums& sums);
/// out = factor * w * (softmax - onehot); padded channels are zero. w carries no gradient.
void cross_entropy_gradient_row(float* out, const float* logits, const std::uint8_t* labels,
                                std::int64_t classes, const float* class_weights, bool focal,
                                float factor, std::int64_t pixels);

// --- layout; pixels of one channel lie `plane_stride` floats apart from the next channel's ---

/// Plain [channel][pixel] to blocked [pixel][8]; channels beyond `channels` (1..8) become zero.
void block_row(float* out, const float* plain, std::int64_t plane_stride, std::int64_t channels,
               std::int64_t pixels);
void unblock_row(float* plain, std::int64_t plane_stride, const float* blocked,
                 std::int64_t channels, std::int64_t pixels);

// --- flat arrays of `count` floats, any alignment ---

void scale_add(float* out, const float* a, const float* b, float b_factor,
               std::int64_t count);  ///< a + b_factor * b
void scale_floats(float* out, const float* x, float factor, std::int64_t count);
/// dy where x > 0, slope * dy elsewhere. With dy = x a leaky rectifier.
void gate_floats(float* out, const float* x, const float* dy, float slope, std::int64_t count);
/// m = decay * m + gain * g^power, power 1 or 2.
void update_moment(float* out, const float* m, const float* g, float decay, float gain, int power,
                   std::int64_t count);
/// keep * p - rate * m / (sqrt(v) * v_scale + epsilon).
void adam_step(float* out, const float* p, const float* m, const float* v, float rate,
               float v_scale, float epsilon, float keep, std::int64_t count);
/// keep * p - rate * g / (sqrt(v) + epsilon).
void rmsprop_step(float* out, const float* p, const float* g, const float* v, float rate,
                  float epsilon, float keep, std::int64_t count);

}  // namespace cosmic::target::cpu
