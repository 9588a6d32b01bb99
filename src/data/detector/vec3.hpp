// Points and directions in the detector, in centimetres: x along the drift, y up, z along the beam.
#pragma once

#include <cmath>

namespace cosmic::data::detector {

struct Vec3 {
  double x = 0;
  double y = 0;
  double z = 0;

  friend Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vec3 operator*(Vec3 a, double s) { return {a.x * s, a.y * s, a.z * s}; }
};

inline double dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

inline double norm(Vec3 a) {
  return std::sqrt(dot(a, a));
}

inline Vec3 normalized(Vec3 a) {
  return a * (1 / norm(a));
}

/// The direction at polar angle theta (given by its cosine) and azimuth `phi` around a unit `axis`.
Vec3 turned(Vec3 axis, double cos_theta, double phi);

/// The direction at `a` and `b`, tangents of angles, to two perpendicular sides of a unit `axis`.
Vec3 deflected(Vec3 axis, double a, double b);

}  // namespace cosmic::data::detector
