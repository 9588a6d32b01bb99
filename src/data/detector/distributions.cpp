#include "data/detector/distributions.hpp"

#include <cmath>
#include <numbers>

namespace cosmic::data::detector {

double exponential(RandomStream& random, double mean) {
  return -mean * std::log(1 - random.uniform());
}

double gamma(RandomStream& random, int shape, double scale) {
  double product = 1;
  for (int i = 0; i < shape; ++i) {
    product *= 1 - random.uniform();
  }
  return -scale * std::log(product);
}

int poisson(RandomStream& random, double mean) {
  const double stop = std::exp(-mean);
  int count = -1;
  for (double product = 1; product > stop; ++count) {
    product *= random.uniform();
  }
  return count;
}

double centred_moyal(RandomStream& random) {
  // If z is normal, -ln z^2 follows Moyal's distribution, whose mean is Euler's gamma + ln 2.
  constexpr double kMean = std::numbers::egamma + std::numbers::ln2;
  const double z = random.normal();
  constexpr double kSmallest = 1e-12;  // keeps the logarithm finite
  return -std::log(z * z + kSmallest) - kMean;
}

double normal_above(RandomStream& random, double threshold, double sigma) {
  // The tail falls a little faster than the exponential that touches it at the threshold.
  const double mean = sigma * sigma / threshold;
  for (;;) {
    const double excess = exponential(random, mean);
    if (random.uniform() < std::exp(-excess * excess / (2 * sigma * sigma))) {
      return threshold + excess;
    }
  }
}

double nearly_normal(RandomStream& random) {
  constexpr std::uint64_t kPart = 0xffff;
  constexpr double kMean = 4 * 0.5 * 65535;
  constexpr double kWidth = 65536 * std::numbers::inv_sqrt3;  // of four uniform numbers, summed
  const std::uint64_t bits = random.next();
  const std::uint64_t sum =
      (bits & kPart) + (bits >> 16 & kPart) + (bits >> 32 & kPart) + (bits >> 48);
  return (static_cast<double>(sum) - kMean) * (1 / kWidth);
}

double azimuth(RandomStream& random) {
  return 2 * std::numbers::pi * random.uniform();
}

Vec3 isotropic(RandomStream& random) {
  const double cos_theta = random.uniform(-1, 1);
  return turned({0, 0, 1}, cos_theta, azimuth(random));
}

}  // namespace cosmic::data::detector
