#include "data/detector/cosmic_rays.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "data/detector/distributions.hpp"
#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

constexpr Vec3 kCentre{0, 0, kLength / 2};

/// Every line through the active volume comes this close to its centre.
constexpr double kReach = 378;

/// Charge freed up to one drift before the readout begins is still on its way then; what is freed
/// after it ends is not seen.
constexpr double kEarliest = -kReadoutWindow;
constexpr double kLatest = kReadoutWindow;

/// Muons per cm^2, sr and us from the zenith (PDG: 70 per m^2, s and sr above 1 GeV; slower ones
/// add a third).
constexpr double kVerticalIntensity = 70e-10;
/// Integral of cos^2 over the upper half of the sky.
constexpr double kSolidAngle = 2 * std::numbers::pi / 3;

/// Spectrum (E0 + E)^-n at sea level (Shukla and Sankrith, arXiv:1606.06907), with n = 3.
constexpr double kSpectrumScale = 4290;  // MeV
/// Positive to negative muons at some GeV, PDG.
constexpr double kPositiveShare = 0.56;

/// Electrons and photons of at least kSoftLeast per muon. Of the third of vertical particles that
/// are soft (PDG), most are slower; tuned to the real sample: about 100 small cosmic blobs an event
/// on a plane.
constexpr double kSoftPerMuon = 0.3;
constexpr double kSoftLeast = 10;   // MeV
constexpr double kSoftMost = 1000;  // MeV
/// They come from nearer the zenith, because they are stopped by less air: cos^3.
constexpr double kSoftSolidAngle = 2 * std::numbers::pi / 4;

/// Where a line enters the active volume, if it does.
std::optional<Vec3> entry_point(Vec3 point, Vec3 direction) {
  constexpr Vec3 kLow{-kHalfWidth, -kHalfHeight, 0};
  constexpr Vec3 kHigh{kHalfWidth, kHalfHeight, kLength};
  double enters = -1e9;
  double leaves = 1e9;
  const auto cut = [&](double at, double along, double low, double high) {
    constexpr double kParallel = 1e-12;
    const double slope = std::abs(along) < kParallel ? kParallel : along;
    const double to_low = (low - at) / slope;
    const double to_high = (high - at) / slope;
    enters = std::max(enters, std::min(to_low, to_high));
    leaves = std::min(leaves, std::max(to_low, to_high));
  };
  cut(point.x, direction.x, kLow.x, kHigh.x);
  cut(point.y, direction.y, kLow.y, kHigh.y);
  cut(point.z, direction.z, kLow.z, kHigh.z);
  if (enters >= leaves) {
    return std::nullopt;
  }
  constexpr double kInside = 1e-6;  // so that rounding leaves no particle just outside
  return point + direction * (enters + kInside);
}

/// A particle from the sky, zenith angle as cos^power, on a disc that covers the active volume.
std::optional<CosmicRay> draw_ray(RandomStream& random, double power) {
  const double cos_zenith = std::pow(random.uniform(), 1 / (power + 1));
  const Vec3 direction = turned({0, -1, 0}, cos_zenith, azimuth(random));
  const Vec3 across = turned(direction, 0, azimuth(random));
  const Vec3 point = kCentre + across * (kReach * std::sqrt(random.uniform()));
  CosmicRay ray;
  ray.time = random.uniform(kEarliest, kLatest);
  const std::optional<Vec3> entry = entry_point(point, direction);
  if (!entry) {
    return std::nullopt;
  }
  ray.particle.position = *entry;
  ray.particle.direction = direction;
  return ray;
}

double draw_count(RandomStream& random, double intensity, double solid_angle) {
  constexpr double kDisc = std::numbers::pi * kReach * kReach;
  return poisson(random, intensity * solid_angle * kDisc * (kLatest - kEarliest));
}

}  // namespace

std::vector<CosmicRay> draw_cosmic_rays(RandomStream& random, double flux) {
  std::vector<CosmicRay> rays;
  const double muons = draw_count(random, flux * kVerticalIntensity, kSolidAngle);
  for (int i = 0; i < muons; ++i) {
    if (auto ray = draw_ray(random, 2)) {
      ray->particle.pdg = random.uniform() < kPositiveShare ? -pdg::kMuon : pdg::kMuon;
      ray->particle.kinetic_energy = kSpectrumScale * (1 / std::sqrt(1 - random.uniform()) - 1) + 1;
      rays.push_back(*ray);
    }
  }
  const double soft = draw_count(random, flux * kVerticalIntensity * kSoftPerMuon, kSoftSolidAngle);
  for (int i = 0; i < soft; ++i) {
    if (auto ray = draw_ray(random, 3)) {
      ray->particle.pdg = random.uniform() < 0.5 ? pdg::kPhoton : pdg::kElectron;
      // Falls as E^-2, up to kSoftMost.
      ray->particle.kinetic_energy =
          kSoftLeast / (1 - random.uniform() * (1 - kSoftLeast / kSoftMost));
      rays.push_back(*ray);
    }
  }
  return rays;
}

}  // namespace cosmic::data::detector
