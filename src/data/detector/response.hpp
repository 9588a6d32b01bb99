// How a point of charge looks when it arrives: spread over neighbouring wires and rows by diffusion
// on the way and by the electronics at the end, and weakened by impurities. Tabulated, because
// every deposit needs it on every plane.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/detector/geometry.hpp"

namespace cosmic::data::detector {

/// Charge that arrives at a point is shared by this many columns and rows around it.
inline constexpr std::size_t kSpreadColumns = 3;
inline constexpr std::size_t kSpreadRows = 5;

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

  /// Weights of a place within a pixel, `fraction` in [0, 1).
  static const float* columns_at(const Spread& spread, double fraction) {
    return spread.columns + place(fraction) * static_cast<std::int64_t>(kSpreadColumns);
  }
  static const float* rows_at(const float* rows, double fraction) {
    return rows + place(fraction) * static_cast<std::int64_t>(kSpreadRows);
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
