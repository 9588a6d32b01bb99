// Products of tensor cores, by the formats of the factors. Sums are float32.
#pragma once

#include "target/cuda/instructions.cuh"
#include "target/cuda/kernels/conv_tile.hpp"

namespace cosmic::target::cuda {

/// What is left of a float after its tf32.
__device__ inline std::uint32_t rest_after_tf32(std::uint32_t bits, std::uint32_t rounded) {
  return to_tf32_bits(__float_as_uint(__uint_as_float(bits) - __uint_as_float(rounded)));
}

/// sums += a b: 16 x (two units) times (two units) x 8.
template <Products kProducts>
__device__ inline void multiply(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
  if constexpr (kProducts == Products::bf16) {
    multiply_bf16(sums, a, b0, b1);
  } else if constexpr (kProducts == Products::f16) {
    multiply_f16(sums, a, b0, b1);
  } else if constexpr (kProducts == Products::tf32) {
    const std::uint32_t rounded[4] = {to_tf32_bits(a[0]), to_tf32_bits(a[1]), to_tf32_bits(a[2]),
                                      to_tf32_bits(a[3])};
    multiply_tf32(sums, rounded, to_tf32_bits(b0), to_tf32_bits(b1));
  } else {
    // Three products of tf32 numbers have the digits of one of float32.
    std::uint32_t large[4];
    std::uint32_t small[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      large[k] = to_tf32_bits(a[k]);
      small[k] = rest_after_tf32(a[k], large[k]);
    }
    const std::uint32_t large0 = to_tf32_bits(b0);
    const std::uint32_t large1 = to_tf32_bits(b1);
    // Added up apart, so that the small ones are not lost one by one beside a large sum.
    float products[4] = {};
    multiply_tf32(products, small, large0, large1);
    multiply_tf32(products, large, rest_after_tf32(b0, large0), rest_after_tf32(b1, large1));
    multiply_tf32(products, large, large0, large1);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      sums[k] += products[k];
    }
  }
}

}  // namespace cosmic::target::cuda
