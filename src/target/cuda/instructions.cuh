// What only CUDA's compiler understands: the memory of the chip, the start of a kernel, and
// instructions that C++ has no words for. Everything else in *.cuh and *_works.cu is C++ that a
// host can run: the tests compile it with a file of their own in the place of this one
// (tests/target/cuda/host_chip/target/cuda/instructions.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "target/cuda/launch.hpp"

/// Declares `name`: the memory of the chip that a launch has asked for.
#define COSMIC_CHIP_MEMORY(name) extern __shared__ __align__(128) std::byte name[]

namespace cosmic::target::cuda {

/// Queues a kernel on so many blocks of threads. bytes: of the chip's memory, for each of them.
template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t bytes,
           Stream stream, const Arguments&... arguments) {
  kernel<<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(arguments...);
}

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

/// sums += a b: 16 x 16 times 16 x 8, of bfloat16 or float16 numbers.
__device__ inline void multiply_bf16(float (&sums)[4], const std::uint32_t (&a)[4],
                                     std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply_f16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// 16 x 8 times 8 x 8, of tf32 numbers.
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

}  // namespace cosmic::target::cuda
