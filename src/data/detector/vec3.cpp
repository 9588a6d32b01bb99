#include "data/detector/vec3.hpp"

#include <algorithm>

namespace cosmic::data::detector {

namespace {

/// Two directions that are perpendicular to each other and to an axis.
struct Sides {
  Vec3 u;
  Vec3 v;  ///< horizontal
};

Sides sides_of(Vec3 axis) {
  const double across = std::sqrt(axis.x * axis.x + axis.y * axis.y);
  constexpr double kAlongZ = 1e-9;  // below, x and y of the axis do not define a direction
  if (across < kAlongZ) {
    return {{std::copysign(1.0, axis.z), 0, 0}, {0, 1, 0}};
  }
  return {{axis.x * axis.z / across, axis.y * axis.z / across, -across},
          {-axis.y / across, axis.x / across, 0}};
}

}  // namespace

Vec3 turned(Vec3 axis, double cos_theta, double phi) {
  const double sin_theta = std::sqrt(std::max(0.0, 1 - cos_theta * cos_theta));
  const auto [u, v] = sides_of(axis);
  return u * (sin_theta * std::cos(phi)) + v * (sin_theta * std::sin(phi)) + axis * cos_theta;
}

Vec3 deflected(Vec3 axis, double a, double b) {
  const auto [u, v] = sides_of(axis);
  return normalized(axis + u * a + v * b);
}

}  // namespace cosmic::data::detector
