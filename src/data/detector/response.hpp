// How a point of charge looks when it arrives: spread over neighbouring wires and rows by diffusion
// on the way and by the electronics at the end, and weakened by impurities. Tabulated, because
// every deposit needs it on every plane.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/detector/geometry.hpp"

namespace cosmic::data::detector {

/// Charge that arrives at a point is shared by this many columns and rows around it, which begin so
/// far before it that the point is in the middle pixel, or in the middle of the middle two.
inline constexpr std::int64_t kSpreadColumns = 3;
inline constexpr std::int64_t kSpreadRows = 4;
inline constexpr double kColumnsBefore = 0.5 * static_cast<double>(kSpreadColumns - 1);
inline constexpr double kRowsBefore = 0.5 * static_cast<double>(kSpreadRows - 1);

class Response {
 public:
  explicit Response(double electron_lifetime);

  /// Charge that one distance of drift leaves, and how wide.
  struct Spread {
    double survival = 1;
    const float* columns = nullptr;        ///< weights, by place within the pixel
    const float* rows = nullptr;           ///< the same, after the electronics of the plane
    const float* diffused_rows = nullptr;  ///< without electronics: where the charge truly is
  };

  Spread spread(WireRole role, double drift_distance) const;

  /// Weights for a beginning that is `fraction`, in [0, 1), of a pixel beyond the first one's.
  static const float* columns_at(const Spread& spread, double fraction) {
    return spread.columns + place(fraction) * kSpreadColumns;
  }
  static const float* rows_at(const float* rows, double fraction) {
    return rows + place(fraction) * kSpreadRows;
  }

 private:
  static constexpr std::size_t kPlaces = 32;  ///< finer changes no weight by more than 0.02
  static constexpr std::size_t kDistances = 64;

  static std::int64_t place(double fraction) {
    return static_cast<std::int64_t>(fraction * static_cast<double>(kPlaces));
  }

  using Tables = std::array<std::vector<float>, kDistances>;

  std::array<double, kDistances> survival_{};
  Tables columns_;
  Tables diffused_rows_;
  std::array<Tables, kWireRoles> rows_;
};

}  // namespace cosmic::data::detector
