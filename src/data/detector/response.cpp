#include "data/detector/response.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cosmic::data::detector {
namespace {

/// Diffusion of electrons in argon along and across the drift, cm^2 per us. Along: between the
/// 3.7 cm^2/s of MicroBooNE at 274 V/cm (arXiv:2104.06551) and the higher values of Li et al. at
/// 500 V/cm (arXiv:1508.07059). Across: measured as 13 to 15 (collected in Fermilab's LArTPC
/// document 532).
constexpr double kLongitudinalDiffusion = 4.8e-6;
constexpr double kTransverseDiffusion = 13.0e-6;

/// Spread over wires that is there without diffusion, in columns: fields between the wires. Tuned
/// to the real sample: columns per row of steep tracks.
constexpr double kWireSpread = 0.30;

/// Width of the pulse that is left after deconvolution, in rows, by role. Tuned to the real sample:
/// rows per column of flat tracks, mostly 2 to 3 on collection wires and 3 on induction wires.
constexpr std::array<double, kWireRoles> kPulseWidth{0.42, 0.42, 0.32};

double normal_integral(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// Shares of a normal distribution in `count` pixels around it, for each of `places` centres: from
/// `before` pixels behind the first one's beginning, to one pixel more.
std::vector<float> weights(double sigma, std::int64_t count, double before, std::size_t places) {
  std::vector<float> table;
  constexpr double kNarrowest = 1e-3;
  const double width = std::max(sigma, kNarrowest);
  for (std::size_t place = 0; place < places; ++place) {
    const double centre = before + (static_cast<double>(place) + 0.5) / static_cast<double>(places);
    const double all = normal_integral((static_cast<double>(count) - centre) / width) -
                       normal_integral(-centre / width);
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
      const double low = static_cast<double>(pixel) - centre;
      table.push_back(static_cast<float>(
          (normal_integral((low + 1) / width) - normal_integral(low / width)) / all));
    }
  }
  return table;
}

}  // namespace

Response::Response(double electron_lifetime) {
  for (std::size_t i = 0; i < kDistances; ++i) {
    const double distance =
        (static_cast<double>(i) + 0.5) * kHalfWidth / static_cast<double>(kDistances);
    const double time = distance / kDriftVelocity;
    survival_[i] = std::exp(-time / electron_lifetime);
    const double along = std::sqrt(2 * kLongitudinalDiffusion * time) * kRowsPerCm;
    const double across = std::sqrt(2 * kTransverseDiffusion * time) / kWirePitch;
    columns_[i] = weights(std::hypot(across, kWireSpread), kSpreadColumns, kColumnsBefore, kPlaces);
    diffused_rows_[i] = weights(along, kSpreadRows, kRowsBefore, kPlaces);
    for (std::size_t role = 0; role < kWireRoles; ++role) {
      rows_[role][i] =
          weights(std::hypot(along, kPulseWidth[role]), kSpreadRows, kRowsBefore, kPlaces);
    }
  }
}

Response::Spread Response::spread(WireRole role, double drift_distance) const {
  const double scaled = drift_distance * (static_cast<double>(kDistances) / kHalfWidth);
  const auto i = static_cast<std::size_t>(
      std::clamp(static_cast<std::int64_t>(scaled), std::int64_t{0}, std::int64_t{kDistances} - 1));
  return {survival_[i], columns_[i].data(), rows_[static_cast<std::size_t>(role)][i].data(),
          diffused_rows_[i].data()};
}

}  // namespace cosmic::data::detector
