#include "data/detector/vec3.hpp"

#include <algorithm>

namespace cosmic::data::detector {

Vec3 turned(Vec3 axis, double cos_theta, double phi) {
  const double sin_theta = std::sqrt(std::max(0.0, 1 - cos_theta * cos_theta));
  const double a = sin_theta * std::cos(phi);
  const double b = sin_theta * std::sin(phi);
  const double across = std::hypot(axis.x, axis.y);
  constexpr double kAlongZ = 1e-9;  // below, x and y of the axis do not define a direction
  if (across < kAlongZ) {
    return {a, b, std::copysign(cos_theta, axis.z * cos_theta)};
  }
  // (u, v, axis) is an orthonormal frame with v horizontal.
  const Vec3 u{axis.x * axis.z / across, axis.y * axis.z / across, -across};
  const Vec3 v{-axis.y / across, axis.x / across, 0};
  return u * a + v * b + axis * cos_theta;
}

}  // namespace cosmic::data::detector
