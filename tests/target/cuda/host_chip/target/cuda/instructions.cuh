// In the place of src/target/cuda/instructions.cuh where kernels are compiled for the host's chip:
// CUDA's words, and what its instructions do. How matrices are spread over the threads of a warp is
// as NVIDIA's description of PTX has it (mma.m16n8k16, mma.m16n8k8, ldmatrix).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "target/cuda/host_chip/chip.hpp"
#include "target/cuda/kernels/narrow.hpp"
#include "target/cuda/launch.hpp"

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

#define threadIdx (::cosmic::target::cuda::host_chip::thread_index)
#define blockIdx (::cosmic::target::cuda::host_chip::block_index)
#define blockDim (::cosmic::target::cuda::host_chip::block_extent)

#define COSMIC_CHIP_MEMORY(name) std::byte* const name = host_chip::memory()

struct dim3 {
  unsigned x;
  unsigned y;
  unsigned z;

  dim3(unsigned x_of, unsigned y_of = 1, unsigned z_of = 1)
      : x(x_of), y(y_of), z(z_of) {}  // NOLINT: as CUDA's
};
struct alignas(8) float2 {
  float x;
  float y;
};
struct alignas(16) float4 {
  float x;
  float y;
  float z;
  float w;
};
struct alignas(8) uint2 {
  unsigned x;
  unsigned y;
};
struct alignas(16) uint4 {
  unsigned x;
  unsigned y;
  unsigned z;
  unsigned w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}

struct cudaFuncAttributes {};
enum { cudaSuccess, cudaErrorInvalidValue, cudaFuncAttributeMaxDynamicSharedMemorySize };
inline int cudaGetLastError() {
  return cudaSuccess;
}
template <class Kernel>
int cudaFuncGetAttributes(cudaFuncAttributes*, Kernel*) {
  return cudaSuccess;
}
template <class Kernel>
int cudaFuncSetAttribute(Kernel*, int, int) {
  return cudaSuccess;
}

namespace cosmic::target::cuda {

template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) * b) >> 32);
}
inline float __uint_as_float(std::uint32_t bits) {
  return float_of(bits);
}
inline std::uint32_t __float_as_uint(float x) {
  return bits_of(x);
}
template <class Number>
Number __ldg(const Number* from) {
  return *from;
}
template <class Number>
Number __ldcg(const Number* from) {
  return *from;
}
inline void __threadfence() {}
/// Blocks run one after the other.
inline unsigned atomicAdd(unsigned* at, unsigned more) {
  return std::exchange(*at, *at + more);
}
inline void __syncthreads() {
  host_chip::meet_block();
}
inline void __syncwarp() {
  host_chip::meet_warp([](void* const(&)[32]) {}, nullptr);
}

template <class Number>
struct Exchanged {
  Number number;
  int lane;
};
/// Thread t gets the number of thread from(t).
template <class Number, class From>
Number exchange_in_warp(Number number, const From& from) {
  Exchanged<Number> mine{number, from(static_cast<int>(threadIdx.x % 32))};
  host_chip::meet_warp(
      [](void* const(&operands)[32]) {
        Number numbers[32];
        for (int lane = 0; lane < 32; ++lane) {
          numbers[lane] = static_cast<Exchanged<Number>*>(operands[lane])->number;
        }
        for (void* const operand : operands) {
          auto* const one = static_cast<Exchanged<Number>*>(operand);
          one->number = numbers[one->lane];
        }
      },
      &mine);
  return mine.number;
}
template <class Number>
Number __shfl_xor_sync(unsigned, Number number, int apart) {
  return exchange_in_warp(number, [&](int lane) { return lane ^ apart; });
}
template <class Number>
Number __shfl_down_sync(unsigned, Number number, int apart) {
  return exchange_in_warp(number,
                          [&](int lane) { return lane + apart < 32 ? lane + apart : lane; });
}

template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t bytes, Stream,
           const Arguments&... arguments) {
  host_chip::run({blocks.x, blocks.y, blocks.z}, threads, bytes, [&] { kernel(arguments...); });
}

struct LoadedMatrices {
  std::uint32_t* to;
  std::uint32_t address;
};
/// kMatrices 8 x 8 matrices: thread t gives the address of row t % 8 of matrix t / 8.
template <int kMatrices, bool kTransposed>
void load_from_chip(std::uint32_t* to, std::uint32_t address) {
  LoadedMatrices mine{to, address};
  host_chip::meet_warp(
      [](void* const(&operands)[32]) {
        for (int m = 0; m < kMatrices; ++m) {
          std::uint16_t matrix[8][8];
          for (int row = 0; row < 8; ++row) {
            const auto* const given = static_cast<LoadedMatrices*>(operands[8 * m + row]);
            std::memcpy(matrix[row], host_chip::at(given->address, 16), 16);
          }
          for (int lane = 0; lane < 32; ++lane) {
            const int row = lane / 4;
            const int column = lane % 4 * 2;
            const std::uint32_t low = kTransposed ? matrix[column][row] : matrix[row][column];
            const std::uint32_t high =
                kTransposed ? matrix[column + 1][row] : matrix[row][column + 1];
            static_cast<LoadedMatrices*>(operands[lane])->to[m] = low | high << 16;
          }
        }
      },
      &mine);
}
inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t address) {
  load_from_chip<4, false>(to, address);
}
inline void load_transposed(std::uint32_t (&to)[4], std::uint32_t address) {
  load_from_chip<4, true>(to, address);
}
inline void load_transposed(std::uint32_t (&to)[2], std::uint32_t address) {
  load_from_chip<2, true>(to, address);
}

inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - host_chip::memory());
}

inline void begin_copy(std::uint32_t to, const void* from, bool exists) {
  host_chip::begin_copy(to, exists ? from : nullptr);
}
inline void wait_for_copies() {
  host_chip::finish_copies();
}

struct Multiplied {
  float* sums;
  const std::uint32_t* a;
  std::uint32_t b[2];
};
/// Half `half` of a word as a number.
using HalfOf = float (*)(std::uint32_t word, int half);
/// 16 x 16 times 16 x 8.
template <HalfOf kHalfOf>
void multiply_halves(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                     std::uint32_t b1) {
  Multiplied mine{sums, a, {b0, b1}};
  host_chip::meet_warp(
      [](void* const(&operands)[32]) {
        const auto of = [&](int lane) { return static_cast<Multiplied*>(operands[lane]); };
        float left[16][16];
        float right[16][8];
        for (int lane = 0; lane < 32; ++lane) {
          const int group = lane / 4;
          const int first = lane % 4 * 2;
          for (int half = 0; half < 2; ++half) {
            for (int k = 0; k < 4; ++k) {
              left[group + k % 2 * 8][first + half + k / 2 * 8] = kHalfOf(of(lane)->a[k], half);
            }
            for (int k = 0; k < 2; ++k) {
              right[first + half + k * 8][group] = kHalfOf(of(lane)->b[k], half);
            }
          }
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int k = 0; k < 4; ++k) {
            const int row = lane / 4 + k / 2 * 8;
            const int column = lane % 4 * 2 + k % 2;
            double sum = of(lane)->sums[k];
            for (int i = 0; i < 16; ++i) {
              sum += static_cast<double>(left[row][i]) * right[i][column];
            }
            of(lane)->sums[k] = static_cast<float>(sum);
          }
        }
      },
      &mine);
}
inline float half_as_bf16(std::uint32_t word, int half) {
  return from_bf16(static_cast<std::uint16_t>(word >> (16 * half)));
}
inline float half_as_f16(std::uint32_t word, int half) {
  return from_f16(static_cast<std::uint16_t>(word >> (16 * half)));
}
inline void multiply_bf16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                          std::uint32_t b1) {
  multiply_halves<half_as_bf16>(sums, a, b0, b1);
}
inline void multiply_f16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                         std::uint32_t b1) {
  multiply_halves<half_as_f16>(sums, a, b0, b1);
}

inline std::uint32_t to_tf32_bits(std::uint32_t bits) {
  return bits_of(to_tf32(float_of(bits)));
}
/// 16 x 8 times 8 x 8.
inline void multiply_tf32(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                          std::uint32_t b1) {
  Multiplied mine{sums, a, {b0, b1}};
  host_chip::meet_warp(
      [](void* const(&operands)[32]) {
        const auto of = [&](int lane) { return static_cast<Multiplied*>(operands[lane]); };
        float left[16][8];
        float right[8][8];
        for (int lane = 0; lane < 32; ++lane) {
          for (int k = 0; k < 4; ++k) {
            left[lane / 4 + k % 2 * 8][lane % 4 + k / 2 * 4] = to_tf32(float_of(of(lane)->a[k]));
          }
          for (int k = 0; k < 2; ++k) {
            right[lane % 4 + k * 4][lane / 4] = to_tf32(float_of(of(lane)->b[k]));
          }
        }
        for (int lane = 0; lane < 32; ++lane) {
          for (int k = 0; k < 4; ++k) {
            const int row = lane / 4 + k / 2 * 8;
            const int column = lane % 4 * 2 + k % 2;
            double sum = of(lane)->sums[k];
            for (int i = 0; i < 8; ++i) {
              sum += static_cast<double>(left[row][i]) * right[i][column];
            }
            of(lane)->sums[k] = static_cast<float>(sum);
          }
        }
      },
      &mine);
}

}  // namespace cosmic::target::cuda
