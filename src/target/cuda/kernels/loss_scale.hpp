// Loss scaling: whether gradients are finite, what they are without the scale, and the next scale.
#pragma once

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

/// One output, whose terms are the numbers of all tensors, one after the other: 0, or NaN where one
/// of them is not finite.
struct AllFiniteBody {
  static constexpr int kSums = 1;
  static constexpr int kMostTensors = 16;

  struct Context {};

  const float* tensors[kMostTensors];
  std::int64_t ends[kMostTensors];  ///< of each tensor, among the terms
  float* finite;

  COSMIC_DEVICE Context at(std::int64_t) const { return {}; }
  COSMIC_DEVICE void add(const Context&, std::int64_t term, float* sums) const {
    int tensor = 0;
    std::int64_t begin = 0;
    while (term >= ends[tensor]) {
      begin = ends[tensor];
      ++tensor;
    }
    const float x = tensors[tensor][term - begin];
    sums[0] += x - x;
  }
  COSMIC_DEVICE void finish(std::int64_t, const double* sums) const {
    *finite = static_cast<float>(sums[0]);
  }
};

struct UnscaleBody {
  const float* x;
  const float* scale;
  float* y;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] / *scale; }
};

struct NextLossScaleBody {
  const float* scale;
  const std::int64_t* good_steps;
  const float* finite;
  float* next;
  float growth;
  float backoff;
  float least;
  std::int64_t interval;

  COSMIC_DEVICE void operator()(std::int64_t) const {
    const float now = *scale;
    const float grown = growth * now;
    const float smaller = backoff * now;
    const bool grows = *good_steps + 1 >= interval && is_finite(grown);
    *next = !is_finite(*finite) ? (smaller < least ? least : smaller) : grows ? grown : now;
  }
};

struct GoodStepsBody {
  const std::int64_t* good_steps;
  const float* finite;
  std::int64_t* counted;
  std::int64_t interval;

  COSMIC_DEVICE void operator()(std::int64_t) const {
    const std::int64_t next = *good_steps + 1;
    *counted = is_finite(*finite) && next < interval ? next : 0;
  }
};

}  // namespace cosmic::target::cuda
