// The values that make up nearly all of a network, in closed form: a sum of normalised and
// activated images on the way forward, and a gradient through both on the way back. What kernels
// read is nearly always one of these two; anything else is interpreted (recipe.hpp).
#pragma once

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

/// Two numbers of a channel, for x s + t.
struct Pair {
  float s;
  float t;
};

/// Of a recipe, whose first leaves are a, b and c, and whose first coefficients have the numbers in
/// the same order.
struct Formula {
  enum class Kind : std::uint8_t {
    none,      ///< there is no closed form
    plain,     ///< a, as it is stored
    sum,       ///< outer(leaky(a s0 + t0)), or outer(leaky(a s0 + t0) + leaky(b s1 + t1))
    gradient,  ///< (b s0 + t0 > 0 ? a : slope a), or that times s1, plus c s2 + t2
  };

  Kind kind = Kind::none;
  bool is_long = false;     ///< a sum has its second term; a gradient, what follows the gate
  bool c_is_b = true;       ///< a gradient was gated by the image that was normalised
  float slope[2] = {1, 1};  ///< of both terms, or of the gate; from 0 to 1
  float outer = 1;          ///< of a sum as a whole
};

/// Of slopes from 0 to 1.
COSMIC_DEVICE inline float leaky(float x, float slope) {
#ifdef __CUDA_ARCH__
  return fmaxf(x, slope * x);
#else
  return x > 0 ? x : slope * x;
#endif
}

/// The value of one channel. Only what the formula has is read of the arguments.
COSMIC_DEVICE inline float sum_value(const Formula& formula, float a, float b, const Pair& first,
                                     const Pair& second) {
  float value = leaky(a * first.s + first.t, formula.slope[0]);
  if (formula.is_long) {
    value += leaky(b * second.s + second.t, formula.slope[1]);
  }
  return formula.outer == 1 ? value : leaky(value, formula.outer);
}

COSMIC_DEVICE inline float gradient_value(const Formula& formula, float a, float b, float c,
                                          const Pair& gate, const Pair& scale,
                                          const Pair& through) {
  const float gated = b * gate.s + gate.t > 0 ? a : formula.slope[0] * a;
  return formula.is_long ? gated * scale.s + (c * through.s + through.t) : gated;
}

}  // namespace cosmic::target::cuda
