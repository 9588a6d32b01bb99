#include "data/detector/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cosmic::data::detector {
namespace {

/// Inverse of std::erfc, by halving the interval: for tables, not for every draw.
double inverse_erfc(double value) {
  double low = -6;   // erfc is 2 here
  double high = 27;  // and 0 here, to the last bit
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (std::erfc(middle) > value ? low : high) = middle;
  }
  return high;
}

}  // namespace

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
  // If z is normal, -ln z^2 follows Moyal's distribution, whose mean is Euler's gamma + ln 2. A
  // share erfc(|z| / sqrt 2) of it is below.
  static const QuantileTable table([](double share) {
    constexpr double kMean = std::numbers::egamma + std::numbers::ln2;
    return -2 * std::log(std::numbers::sqrt2 * inverse_erfc(share)) - kMean;
  });
  return table.draw(random);
}

double normal_tail(double mean, double width, double threshold) {
  return 0.5 * std::erfc((threshold - mean) / (width * std::numbers::sqrt2));
}

QuantileTable normal_above(double mean, double width, double threshold) {
  const double tail = normal_tail(mean, width, threshold);
  return QuantileTable([=](double share) {
    const double above = inverse_erfc(2 * tail * (1 - share)) * std::numbers::sqrt2;
    return std::max(threshold, mean + width * above);  // rounding must not pass below
  });
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
