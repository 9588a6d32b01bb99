// Numbers of 16 bits, and vectors of neighbouring channels, as the device and the host read and
// write them. The bits are those of core/number_format, which has no code for a device.
#pragma once

#include <cstdint>
#include <cstring>

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

/// As cosmic::NumberFormat, whose header is not for devices; lower.cpp checks that they agree.
enum class Format : std::uint8_t { f32, bf16, f16 };

COSMIC_DEVICE constexpr int size_of(Format format) {
  return format == Format::f32 ? 4 : 2;
}

COSMIC_DEVICE inline std::uint32_t bits_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

COSMIC_DEVICE inline float float_of(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

COSMIC_DEVICE inline std::uint16_t to_bf16(float x) {
#ifdef __CUDA_ARCH__
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#else
  const std::uint32_t bits = bits_of(x);
  if (x != x) {
    return 0x7fff;
  }
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

COSMIC_DEVICE inline float from_bf16(std::uint16_t bits) {
  return float_of(static_cast<std::uint32_t>(bits) << 16);
}

COSMIC_DEVICE inline std::uint16_t to_f16(float x) {
#ifdef __CUDA_ARCH__
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#else
  const std::uint32_t bits = bits_of(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return 0x7fff;
  }
  if (magnitude >= 0x477ff000) {  // 65520: rounds to infinity
    return sign | 0x7c00;
  }
  if (magnitude >= 0x38800000) {  // 2^-14: normal
    const std::uint32_t even = magnitude + 0xfff + (magnitude >> 13 & 1);
    return sign | static_cast<std::uint16_t>((even - 0x38000000) >> 13);
  }
  // Adding 0.5 puts the last bit of a subnormal half at the last bit of the sum, rounded to even.
  const float shifted = float_of(magnitude) + 0.5F;
  return sign | static_cast<std::uint16_t>(bits_of(shifted) - bits_of(0.5F));
#endif
}

COSMIC_DEVICE inline float from_f16(std::uint16_t bits) {
#ifdef __CUDA_ARCH__
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
#else
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f) {
    return float_of(sign | 0x7f800000 | fraction << 13);
  }
  if (exponent == 0) {
    return float_of(sign | bits_of(static_cast<float>(fraction) * 0x1p-24F));
  }
  return float_of(sign | (exponent + 112) << 23 | fraction << 13);
#endif
}

/// A float as tensor cores take it in float32: 10 bits behind the point, halves away from zero.
COSMIC_DEVICE inline float to_tf32(float x) {
  const std::uint32_t bits = bits_of(x);
  // An infinity and what is no number stay so.
  return (bits & 0x7f800000U) == 0x7f800000U ? x : float_of((bits + 0x1000U) & 0xffffe000U);
}

/// The number as it comes back from being written.
COSMIC_DEVICE inline float rounded_to(float x, Format format) {
  switch (format) {
    case Format::f32:
      break;
    case Format::bf16:
      return from_bf16(to_bf16(x));
    case Format::f16:
      return from_f16(to_f16(x));
  }
  return x;
}

COSMIC_DEVICE inline float read_number(const void* base, Format format, std::int64_t i) {
  switch (format) {
    case Format::f32:
      break;
    case Format::bf16:
      return from_bf16(static_cast<const std::uint16_t*>(base)[i]);
    case Format::f16:
      return from_f16(static_cast<const std::uint16_t*>(base)[i]);
  }
  return static_cast<const float*>(base)[i];
}

COSMIC_DEVICE inline void write_number(void* base, Format format, std::int64_t i, float x) {
  switch (format) {
    case Format::f32:
      static_cast<float*>(base)[i] = x;
      return;
    case Format::bf16:
      static_cast<std::uint16_t*>(base)[i] = to_bf16(x);
      return;
    case Format::f16:
      static_cast<std::uint16_t*>(base)[i] = to_f16(x);
      return;
  }
}

/// Bits of a few neighbouring numbers: 4, 8 or 16 bytes that are moved at once.
template <int kWords>
struct alignas(4 * kWords) Words {
  std::uint32_t word[kWords];
};

/// kNumbers floats from, or to, so many numbers in a row. Addresses are multiples of what is moved.
template <int kNumbers>
COSMIC_DEVICE inline void unpack(const Words<kNumbers / 2>& packed, Format format, float* out) {
  COSMIC_UNROLLED
  for (int i = 0; i < kNumbers / 2; ++i) {
    const std::uint32_t word = packed.word[i];
    if (format == Format::bf16) {
      out[2 * i] = float_of(word << 16);
      out[2 * i + 1] = float_of(word & 0xffff0000U);
    } else {
      out[2 * i] = from_f16(static_cast<std::uint16_t>(word));
      out[2 * i + 1] = from_f16(static_cast<std::uint16_t>(word >> 16));
    }
  }
}

template <int kNumbers>
COSMIC_DEVICE inline Words<kNumbers / 2> pack(const float* numbers, Format format) {
  Words<kNumbers / 2> packed;
  COSMIC_UNROLLED
  for (int i = 0; i < kNumbers / 2; ++i) {
#ifdef __CUDA_ARCH__
    if (format == Format::bf16) {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
          : "=r"(packed.word[i])
          : "f"(numbers[2 * i + 1]), "f"(numbers[2 * i]));
    } else {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;"
          : "=r"(packed.word[i])
          : "f"(numbers[2 * i + 1]), "f"(numbers[2 * i]));
    }
#else
    const bool bf16 = format == Format::bf16;
    const std::uint32_t low = bf16 ? to_bf16(numbers[2 * i]) : to_f16(numbers[2 * i]);
    const std::uint32_t high = bf16 ? to_bf16(numbers[2 * i + 1]) : to_f16(numbers[2 * i + 1]);
    packed.word[i] = low | high << 16;
#endif
  }
  return packed;
}

/// kNumbers numbers that lie side by side, the first of them at a multiple of kNumbers.
template <int kNumbers>
COSMIC_DEVICE inline void read_numbers(const void* base, Format format, std::int64_t first,
                                       float* out) {
  if (format == Format::f32) {
    constexpr int kTogether = kNumbers < 4 ? kNumbers : 4;
    COSMIC_UNROLLED
    for (int i = 0; i < kNumbers; i += kTogether) {
      const auto part =
          *reinterpret_cast<const Words<kTogether>*>(static_cast<const float*>(base) + first + i);
      COSMIC_UNROLLED
      for (int k = 0; k < kTogether; ++k) {
        out[i + k] = float_of(part.word[k]);
      }
    }
    return;
  }
  unpack<kNumbers>(*reinterpret_cast<const Words<kNumbers / 2>*>(
                       static_cast<const std::uint16_t*>(base) + first),
                   format, out);
}

template <int kNumbers>
COSMIC_DEVICE inline void write_numbers(void* base, Format format, std::int64_t first,
                                        const float* numbers) {
  if (format == Format::f32) {
    constexpr int kTogether = kNumbers < 4 ? kNumbers : 4;
    COSMIC_UNROLLED
    for (int i = 0; i < kNumbers; i += kTogether) {
      Words<kTogether> part;
      COSMIC_UNROLLED
      for (int k = 0; k < kTogether; ++k) {
        part.word[k] = bits_of(numbers[i + k]);
      }
      *reinterpret_cast<Words<kTogether>*>(static_cast<float*>(base) + first + i) = part;
    }
    return;
  }
  *reinterpret_cast<Words<kNumbers / 2>*>(static_cast<std::uint16_t*>(base) + first) =
      pack<kNumbers>(numbers, format);
}

}  // namespace cosmic::target::cuda
