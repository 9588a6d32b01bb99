// What every kernel's code has in common. Kernels are written as small structs (bodies) that hold
// pointers and sizes and say what one thread does. They are plain C++, so that the device and the
// tests, on the host, run the very same code; only how threads are started differs.
//
// A body is one of two kinds:
//   Map        body(i) for every i: one thread each.
//   Reduction  per output, a few sums over many terms, in a fixed order, then finish(output, sums).
#pragma once

#include <math.h>

#include <cstdint>

#ifdef __CUDACC__
#define COSMIC_DEVICE __host__ __device__
/// For long code that few kernels ever run: a call costs them less than every copy costs the
/// others.
#define COSMIC_CALLED __noinline__
/// Before a loop: all its rounds side by side, so that arrays are registers; or not a single copy.
#define COSMIC_UNROLLED _Pragma("unroll")
#define COSMIC_ONE_BY_ONE _Pragma("unroll 1")
#else
#define COSMIC_DEVICE
#define COSMIC_CALLED
#define COSMIC_UNROLLED
#define COSMIC_ONE_BY_ONE
#endif

namespace cosmic::target::cuda {

/// a / b of numbers that are not negative. Most fit into 32 bits, where division takes a quarter of
/// the time.
COSMIC_DEVICE inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0) {
    return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  }
  return a / b;
}

struct Division {
  std::int64_t whole;
  std::int64_t rest;
};

COSMIC_DEVICE inline Division divide(std::int64_t a, std::int64_t b) {
  const std::int64_t whole = quotient(a, b);
  return {whole, a - whole * b};
}

COSMIC_DEVICE inline bool is_finite(float x) {
  return x - x == 0.0F;
}

/// body(i) for 0 <= i < elements. Where `guard` is given and points to a number that is not finite,
/// nothing is done: so no state changes with a loss that is no number.
template <class Body>
struct Map {
  Body body;
  std::int64_t elements = 0;
  const float* guard = nullptr;
};

/// For each of `outputs`, Body::kSums sums over `terms`. A body has
///   Context at(output)                   what is the same for all terms of an output
///   add(context, term, float sums[])     adds one term
///   finish(output, const double sums[])  takes the sums
/// See launch_geometry.hpp for the order in which terms are added up.
template <class Body>
struct Reduction {
  Body body;
  std::int64_t outputs = 0;
  std::int64_t terms = 0;
  double* partials = nullptr;  ///< scratch_bytes() of them
};

}  // namespace cosmic::target::cuda
