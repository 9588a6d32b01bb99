// Where the detector is and how its pixels see space. The model is SBND: a cathode in the middle,
// charge drifts from it to two walls of wires, three planes each. Both walls share an image: rows
// [0, 640) are the volume at negative x, rows [640, 1280) that at positive x, with the walls at the
// outer rows and the cathode in the middle. Tuned to the true vertices of the real sample, which
// it puts into exactly the pixels that the sample has for them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "data/detector/vec3.hpp"
#include "data/event.hpp"

namespace cosmic::data::detector {

// The active volume, in cm: SBND's two drifts of 2 m, 4 m of height and 5 m along the beam.
inline constexpr double kHalfWidth = 200;
inline constexpr double kHalfHeight = 200;
inline constexpr double kLength = 500;

inline constexpr double kWirePitch = 0.3;  // cm, SBND

inline constexpr std::int64_t kColumns = 2048;
inline constexpr std::int64_t kRows = 1280;
inline constexpr std::int64_t kRowsOfVolume = kRows / 2;

/// Four ticks of 0.5 us are summed to a row, so that a drift fits 640 rows.
inline constexpr double kMicrosecondsPerRow = 2.0;
/// At 500 V/cm in argon at 88 K, in cm per us.
inline constexpr double kDriftVelocity = 0.1563;
inline constexpr double kRowsPerCm = 1 / (kMicrosecondsPerRow * kDriftVelocity);
/// Time a readout sees, in us; the same as the longest drift.
inline constexpr double kReadoutWindow = kMicrosecondsPerRow * kRowsOfVolume;

enum class DriftVolume : std::uint8_t { negative_x, positive_x };

inline constexpr std::size_t kDriftVolumes = 2;

inline DriftVolume volume_of(double x) {
  return x < 0 ? DriftVolume::negative_x : DriftVolume::positive_x;
}

inline double drift_distance(double x) {
  return kHalfWidth - std::abs(x);
}

/// Half of what the cathode takes, in cm along the drift: charge that is freed there is not seen.
/// Measured on the real sample (neutrino_brightness.py of the tests): true tracks that cross it
/// jump by 4.89 +- 0.25 cm, and the muon of its event 0, whose vertex is inside, begins 2.5 cm from
/// the middle.
inline constexpr double kHalfCathode = 2.5;

inline bool in_cathode(Vec3 p) {
  return std::abs(p.x) < kHalfCathode;
}

inline bool in_active_volume(Vec3 p) {
  return std::abs(p.x) < kHalfWidth && std::abs(p.y) < kHalfHeight && p.z > 0 && p.z < kLength;
}

/// The part of a plane's image that one wall fills.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

inline RowRange rows_of(DriftVolume volume) {
  return volume == DriftVolume::negative_x ? RowRange{0, kRowsOfVolume}
                                           : RowRange{kRowsOfVolume, kRows};
}

inline DriftVolume volume_of_row(std::int64_t row) {
  return row < kRowsOfVolume ? DriftVolume::negative_x : DriftVolume::positive_x;
}

/// Columns that have a wire: 1984 wires and one beside them on the induction planes, 1664 on the
/// collection plane; the outermost are those with charge or noise in the real sample.
struct WireRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

inline WireRange wires_of(std::size_t plane) {
  constexpr std::array<WireRange, kPlanes> kWires{{{31, 2016}, {31, 2016}, {191, 1856}}};
  return kWires[plane];
}

/// What a wire plane does to charge. A column's planes are numbered by angle (-60, +60, 0 degrees),
/// so the plane that charge meets first is number 0 in one volume and number 1 in the other.
enum class WireRole : std::uint8_t { first_induction, second_induction, collection };

inline constexpr std::size_t kWireRoles = 3;

WireRole role_of(std::size_t plane, DriftVolume volume);

/// A place on a plane's image; pixel (c, r) covers [c, c + 1) x [r, r + 1).
struct ImagePoint {
  double column = 0;
  double row = 0;
};

/// Where charge that is freed at `p`, `time` us after the trigger, shows on a plane. Charge that is
/// late or early moves along its volume's rows, and out of the image when they end.
ImagePoint project(std::size_t plane, Vec3 p, double time, DriftVolume volume);

ImageMeta meta_of(std::size_t plane);

}  // namespace cosmic::data::detector
