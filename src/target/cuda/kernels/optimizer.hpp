// Parameter updates, element by element, in double: they are few against the pixels, and a decay of
// 0.999 has no float32. Each may write where it reads.
#pragma once

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

struct MomentBody {
  const float* moment;
  const float* gradient;
  const float* varying;  ///< decay and gain, or null
  float* updated;
  double decay;
  double gain;
  bool squared;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const double d = varying == nullptr ? decay : varying[0];
    const double g = varying == nullptr ? gain : varying[1];
    const double x = gradient[i];
    updated[i] = static_cast<float>(d * moment[i] + g * (squared ? x * x : x));
  }
};

struct AdamStepBody {
  const float* parameter;
  const float* first;
  const float* second;
  const float* rate;
  const std::int64_t* steps;
  const float* varying;  ///< beta1, 1 - beta1, beta2, 1 - beta2, epsilon, weight decay; or null
  float* updated;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;

  /// What is the same for all elements, powers above all.
  struct Context {
    double correction1;
    double root2;
    double rate;
    double epsilon;
    double kept;
  };

  COSMIC_DEVICE Context context() const {
    const double b1 = varying == nullptr ? beta1 : 1 - static_cast<double>(varying[1]);
    const double b2 = varying == nullptr ? beta2 : 1 - static_cast<double>(varying[3]);
    const double e = varying == nullptr ? epsilon : varying[4];
    const double decay = varying == nullptr ? weight_decay : varying[5];
    const auto count = static_cast<double>(*steps);
    const double lr = *rate;
    return {1 - pow(b1, count), sqrt(1 - pow(b2, count)), lr, e, 1 - lr * decay};
  }
  COSMIC_DEVICE void operator()(const Context& all, std::int64_t i) const {
    const double root = sqrt(static_cast<double>(second[i])) / all.root2;
    const double decayed = parameter[i] * all.kept;
    updated[i] = static_cast<float>(decayed -
                                    all.rate * (first[i] / all.correction1) / (root + all.epsilon));
  }
  COSMIC_DEVICE void operator()(std::int64_t i) const { (*this)(context(), i); }
};

struct RmspropStepBody {
  const float* parameter;
  const float* gradient;
  const float* mean_square;
  const float* rate;
  const float* varying;  ///< epsilon, or null
  float* updated;
  double epsilon;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const double e = varying == nullptr ? epsilon : varying[0];
    const double root = sqrt(static_cast<double>(mean_square[i]));
    const double lr = *rate;
    updated[i] = static_cast<float>(parameter[i] - lr * gradient[i] / (root + e));
  }
};

struct SgdStepBody {
  const float* parameter;
  const float* direction;
  const float* rate;
  float* updated;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const double lr = *rate;
    updated[i] = static_cast<float>(parameter[i] - lr * direction[i]);
  }
};

}  // namespace cosmic::target::cuda
