#include "data/detector/geometry.hpp"

namespace cosmic::data::detector {
namespace {

constexpr double kImageCentre = static_cast<double>(kColumns) / 2;

// Wires at -60, +60 and 0 degrees to the vertical: how far their number advances per cm of y and z.
constexpr double kSine60 = 0.8660254037844386;
constexpr std::array<double, kPlanes> kColumnsPerCmOfY{-kSine60 / kWirePitch, kSine60 / kWirePitch,
                                                       0};
constexpr std::array<double, kPlanes> kColumnsPerCmOfZ{0.5 / kWirePitch, 0.5 / kWirePitch,
                                                       1 / kWirePitch};
/// Plane 1 numbers its wires half a pitch further; the smallest shift that puts all five true
/// vertices of the real sample into their pixels.
constexpr std::array<double, kPlanes> kColumnShift{0, 0.5, 0};

/// Rows between the nominal time and the arrival at each kind of plane. The planes are 3 mm apart
/// and the field behind the first is stronger; the common part is where the sample's time begins.
/// Tuned to the true vertices of the real sample, which leave 0.5 rows of freedom.
constexpr std::array<std::array<double, kWireRoles>, kDriftVolumes> kArrivalRows{{
    {-0.6, 0.4, 0.9},
    {1.25, 2.25, 2.7},
}};

}  // namespace

WireRole role_of(std::size_t plane, DriftVolume volume) {
  if (plane == 2) {
    return WireRole::collection;
  }
  const std::size_t first = volume == DriftVolume::negative_x ? 0 : 1;
  return plane == first ? WireRole::first_induction : WireRole::second_induction;
}

ImagePoint project(std::size_t plane, Vec3 p, double time, DriftVolume volume) {
  const auto role = static_cast<std::size_t>(role_of(plane, volume));
  const double delay = kArrivalRows[static_cast<std::size_t>(volume)][role];
  const double arrival =
      drift_distance(p.x) * kRowsPerCm + time * (1 / kMicrosecondsPerRow) + delay;
  return {kImageCentre + kColumnShift[plane] + kColumnsPerCmOfY[plane] * p.y +
              kColumnsPerCmOfZ[plane] * (p.z - kLength / 2),
          volume == DriftVolume::negative_x ? arrival : static_cast<double>(kRows) - arrival};
}

ImageMeta meta_of(std::size_t plane) {
  return {.projection = plane,
          .pixels = {kColumns, kRows},
          .size = {kColumns, kRows},
          .origin = {0, 0}};
}

}  // namespace cosmic::data::detector
