// Matrix products and soft maxima.
#pragma once

#include "target/cuda/kernels/narrow.hpp"

namespace cosmic::target::cuda {

/// Products that are added up before they enter the whole sum.
inline constexpr std::int64_t kProductsPerSum = 64;
/// Of these, how many have their factors loaded together: one after the other, a thread would wait
/// for memory with every product.
inline constexpr int kProductsAtOnce = 8;

/// i: an element of the result. Strides say whether a factor is read as it is or transposed.
struct MatMulBody {
  const float* a;
  const float* b;
  float* y;
  std::int64_t columns;
  std::int64_t inner;
  std::int64_t a_row;
  std::int64_t a_inner;
  std::int64_t b_inner;
  std::int64_t b_column;
  bool tf32;  ///< factors are rounded to it

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, columns);
    const float* const row = a + at.whole * a_row;
    const float* const column = b + at.rest * b_column;
    float total = 0;
    for (std::int64_t begin = 0; begin < inner; begin += kProductsPerSum) {
      const std::int64_t end = begin + kProductsPerSum < inner ? begin + kProductsPerSum : inner;
      float part = 0;
      std::int64_t k = begin;
      for (; k + kProductsAtOnce <= end; k += kProductsAtOnce) {
        float x[kProductsAtOnce];
        float w[kProductsAtOnce];
        COSMIC_UNROLLED
        for (int j = 0; j < kProductsAtOnce; ++j) {
          x[j] = row[(k + j) * a_inner];
          w[j] = column[(k + j) * b_inner];
        }
        COSMIC_UNROLLED
        for (int j = 0; j < kProductsAtOnce; ++j) {
          part += product_of(x[j], w[j]);
        }
      }
      for (; k < end; ++k) {
        part += product_of(row[k * a_inner], column[k * b_inner]);
      }
      total += part;
    }
    y[i] = total;
  }

  COSMIC_DEVICE float product_of(float x, float w) const {
    return tf32 ? to_tf32(x) * to_tf32(w) : x * w;
  }
};

/// The same where few results have long sums. Output: an element of the result. Terms: products.
struct MatMulSumBody {
  static constexpr int kSums = 1;
  struct Context {
    const float* row;
    const float* column;
  };

  MatMulBody product;

  COSMIC_DEVICE Context at(std::int64_t output) const {
    const Division at = divide(output, product.columns);
    return {product.a + at.whole * product.a_row, product.b + at.rest * product.b_column};
  }
  COSMIC_DEVICE void add(const Context& context, std::int64_t k, float* sums) const {
    sums[0] +=
        product.product_of(context.row[k * product.a_inner], context.column[k * product.b_inner]);
  }
  COSMIC_DEVICE void finish(std::int64_t output, const double* sums) const {
    product.y[output] = static_cast<float>(sums[0]);
  }
};

/// Numbers along an axis: x seen as [., extent, inner]. i: a line of them.
struct Lines {
  std::int64_t extent;
  std::int64_t inner;

  COSMIC_DEVICE std::int64_t first(std::int64_t line) const {
    const Division at = divide(line, inner);
    return at.whole * extent * inner + at.rest;
  }
};

struct SoftmaxBody {
  const float* x;
  float* y;
  Lines lines;
  bool logarithm;

  /// Of so few numbers, shares are exact enough in float32.
  static constexpr int kFew = 4;

  COSMIC_DEVICE void operator()(std::int64_t line) const {
    const std::int64_t first = lines.first(line);
    const std::int64_t end = first + lines.extent * lines.inner;
    if (!logarithm && lines.extent <= kFew) {
      share_few(first);
      return;
    }
    float largest = x[first];
    for (std::int64_t k = first; k < end; k += lines.inner) {
      largest = x[k] > largest ? x[k] : largest;
    }
    // In double: of large numbers, a float of their difference has lost the digits of the sum.
    double sum = 0;
    for (std::int64_t k = first; k < end; k += lines.inner) {
      sum += exp(static_cast<double>(x[k]) - largest);
    }
    const double log_sum = log(sum);
    for (std::int64_t k = first; k < end; k += lines.inner) {
      const double log_share = static_cast<double>(x[k]) - largest - log_sum;
      y[k] = static_cast<float>(logarithm ? log_share : exp(log_share));
    }
  }

 private:
  /// Each number is loaded once.
  COSMIC_DEVICE void share_few(std::int64_t first) const {
    const int extent = static_cast<int>(lines.extent);
    float numbers[kFew];
    float largest = x[first];
    COSMIC_UNROLLED
    for (int k = 0; k < kFew; ++k) {
      numbers[k] = k < extent ? x[first + k * lines.inner] : largest;
      largest = numbers[k] > largest ? numbers[k] : largest;
    }
    float sum = 0;
    COSMIC_UNROLLED
    for (int k = 0; k < kFew; ++k) {
      numbers[k] = expf(numbers[k] - largest);
      sum += k < extent ? numbers[k] : 0.0F;
    }
    COSMIC_UNROLLED
    for (int k = 0; k < kFew; ++k) {
      if (k < extent) {
        y[first + k * lines.inner] = numbers[k] / sum;
      }
    }
  }
};

struct SoftmaxGradientBody {
  const float* y;
  const float* dy;
  float* dx;
  Lines lines;
  bool logarithm;

  COSMIC_DEVICE void operator()(std::int64_t line) const {
    const std::int64_t first = lines.first(line);
    const std::int64_t end = first + lines.extent * lines.inner;
    float sum = 0;
    for (std::int64_t k = first; k < end; k += lines.inner) {
      sum += logarithm ? dy[k] : y[k] * dy[k];
    }
    for (std::int64_t k = first; k < end; k += lines.inner) {
      dx[k] = logarithm ? dy[k] - expf(y[k]) * sum : y[k] * (dy[k] - sum);
    }
  }
};

}  // namespace cosmic::target::cuda
