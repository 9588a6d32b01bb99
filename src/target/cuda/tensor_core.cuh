// The instructions of tensor cores, by the formats of the factors. Sums are float32.
#pragma once

#include "target/cuda/kernels/conv_tile.hpp"

namespace cosmic::target::cuda {

/// Four 8 x 8 matrices of 16-bit numbers (or 8 x 4 of 32 bits): thread t gives the address of a row
/// of matrix t / 8.
__device__ inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// The same, each matrix transposed.
__device__ inline void load_transposed(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
__device__ inline void load_transposed(std::uint32_t (&to)[2], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(address)
               : "memory");
}

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Copies 16 bytes from memory to the chip, some time before wait_for_copies() of the same thread
/// ends; zeros if there is nothing at `from`.
__device__ inline void begin_copy(std::uint32_t to, const void* from, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(exists ? 16 : 0)
               : "memory");
}
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_all;" : : : "memory");
}

__device__ inline void multiply_tf32(float (&sums)[4], const std::uint32_t (&a)[4],
                                     std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline std::uint32_t to_tf32_bits(std::uint32_t bits) {
  std::uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
  return rounded;
}

/// What is left of a float after its tf32.
__device__ inline std::uint32_t rest_after_tf32(std::uint32_t bits, std::uint32_t rounded) {
  return to_tf32_bits(__float_as_uint(__uint_as_float(bits) - __uint_as_float(rounded)));
}

/// sums += a b: 16 x (two units) times (two units) x 8.
template <Products kProducts>
__device__ inline void multiply(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
  if constexpr (kProducts == Products::bf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else if constexpr (kProducts == Products::f16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
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
