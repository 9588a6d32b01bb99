// Products of matrices in row-major memory, for every vector width (Highway). Any alignment, any
// size. An element of the result does not depend on which rows and columns a call computes, so
// threads may cut a product as they like.
#pragma once

#include <cstdint>

namespace cosmic::target::cpu {

/// out[r][c] = sum over k of a(r, k) * b[k][c]: rows of b are added up.
struct MatrixProduct {
  const float* a = nullptr;
  std::int64_t a_row_stride = 0;    ///< floats from a(r, k) to a(r + 1, k)
  std::int64_t a_inner_stride = 0;  ///< floats from a(r, k) to a(r, k + 1)
  const float* b = nullptr;
  std::int64_t b_stride = 0;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
};
void multiply(const MatrixProduct& product);

/// What a product is the gradient for, each laid out as it would be:
///   new_moment = decay * moment + gain * product,  new_weights = weights - rate * new_moment
/// The new ones may be where the old ones are.
struct ProductUpdate {
  const float* moment = nullptr;
  float* new_moment = nullptr;
  const float* weights = nullptr;
  float* new_weights = nullptr;
  float decay = 0;
  float gain = 0;
  float rate = 0;
};
/// Never writes the product itself: gradient.out is not used.
void multiply_and_update(const MatrixProduct& gradient, const ProductUpdate& update);

/// out[r][c] = sum over k of a[r][k] * b[c][k]: rows of a meet rows of b.
struct RowProducts {
  const float* a = nullptr;
  const float* b = nullptr;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0;     ///< of a
  std::int64_t columns = 0;  ///< rows of b
  std::int64_t inner = 0;    ///< length of both kinds of rows, and from one to the next
};
void multiply_rows(const RowProducts& product);

}  // namespace cosmic::target::cpu
