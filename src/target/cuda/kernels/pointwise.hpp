// Bodies that work on each element alone, and the sums of their gradients.
#pragma once

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

template <class Element>
struct FillBody {
  Element* y;
  Element value;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = value; }
};

struct AddBody {
  const float* a;
  const float* b;
  float* y;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = a[i] + b[i]; }
};

struct ScaleBody {
  const float* x;
  float* y;
  float factor;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = factor * x[i]; }
};

struct LeakyReluBody {
  const float* x;
  float* y;
  float slope;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] > 0 ? x[i] : slope * x[i]; }
};

struct LeakyReluGradientBody {
  const float* x;
  const float* dy;
  float* dx;
  float slope;

  COSMIC_DEVICE void operator()(std::int64_t i) const { dx[i] = x[i] > 0 ? dy[i] : slope * dy[i]; }
};

struct ChannelBiasBody {
  const float* x;
  const float* bias;
  float* y;
  std::int64_t channels;
  std::int64_t pixels;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    y[i] = x[i] + bias[divide(quotient(i, pixels), channels).rest];
  }
};

struct IncrementBody {
  const std::int64_t* x;
  std::int64_t* y;
  std::int64_t by;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] + by; }
};

/// The elements of one channel of some images: runs of neighbours, a stride apart.
struct ChannelRuns {
  std::int64_t first;
  std::int64_t run;
  std::int64_t stride;

  COSMIC_DEVICE std::int64_t element(std::int64_t term) const {
    const Division at = divide(term, run);
    return first + at.whole * stride + at.rest;
  }
};

/// Output: a channel. Terms: its pixels in all images.
struct ChannelSumBody {
  static constexpr int kSums = 1;
  using Context = ChannelRuns;

  const float* x;
  float* sums_out;
  std::int64_t channels;
  std::int64_t pixels;

  COSMIC_DEVICE Context at(std::int64_t channel) const {
    return {channel * pixels, pixels, channels * pixels};
  }
  COSMIC_DEVICE void add(const Context& runs, std::int64_t term, float* sums) const {
    sums[0] += x[runs.element(term)];
  }
  COSMIC_DEVICE void finish(std::int64_t channel, const double* sums) const {
    sums_out[channel] = static_cast<float>(sums[0]);
  }
};

}  // namespace cosmic::target::cuda
