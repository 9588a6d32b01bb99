#include "data/detector/argon.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cosmic::data::detector {
namespace {

constexpr double kDensity = 1.396;           // g/cm^3 at 88 K
constexpr double kChargeOverMass = 0.45059;  // Z/A of argon
constexpr double kBetheConstant = 0.307075;  // MeV cm^2/mol, PDG
constexpr double kMeanExcitation = 188e-6;   // MeV, PDG

/// Half of Bethe's prefactor: MeV per cm before 1/beta^2.
constexpr double kHalfPrefactor = 0.5 * kBetheConstant * kChargeOverMass * kDensity;

/// Sternheimer's parameters of argon (PDG), for twice the density correction's half.
double density_correction(double log10_beta_gamma) {
  constexpr double kC = 5.2146;
  constexpr double kX0 = 0.2;
  constexpr double kX1 = 3.0;
  constexpr double kA = 0.19559;
  const double x = log10_beta_gamma;
  if (x < kX0) {
    return 0;
  }
  const double asymptote = 2 * std::numbers::ln10 * x - kC;
  const double left = std::max(0.0, kX1 - x);
  return std::max(0.0, asymptote + kA * left * left * left);  // the exponent is 3 for argon
}

}  // namespace

Motion::Motion(double kinetic_energy, double mass) {
  const double energy = kinetic_energy + mass;
  gamma = energy / mass;
  momentum = std::sqrt(kinetic_energy * (energy + mass));
  beta_squared = momentum * momentum / (energy * energy);
  const double ratio = kElectronMass / mass;
  largest_transfer =
      2 * kElectronMass * beta_squared * gamma * gamma / (1 + 2 * gamma * ratio + ratio * ratio);
}

double restricted_loss(const Motion& motion) {
  const double cut = std::min(kDeltaRayCut, motion.largest_transfer);
  const double beta_gamma_squared = motion.beta_squared * motion.gamma * motion.gamma;
  const double log_beta_gamma_squared = std::log(beta_gamma_squared);
  // ln(2 me bg^2 cut / I^2), the slow logarithms of what is mostly the same taken apart.
  static const double kLogOfCut =
      std::log(2 * kElectronMass * kDeltaRayCut / (kMeanExcitation * kMeanExcitation));
  const double logarithm =
      log_beta_gamma_squared + kLogOfCut + (cut < kDeltaRayCut ? std::log(cut / kDeltaRayCut) : 0);
  const double share = 1 + cut / motion.largest_transfer;
  const double bracket = logarithm - motion.beta_squared * share -
                         density_correction(0.5 * log_beta_gamma_squared / std::numbers::ln10);
  // Bethe's formula turns over below some 100 keV per nucleon, where the range left is far below
  // a pixel; the smallest bracket keeps such a particle losing.
  constexpr double kSmallestBracket = 1.0;
  return kHalfPrefactor / motion.beta_squared * std::max(bracket, kSmallestBracket);
}

double landau_width(const Motion& motion) {
  return kHalfPrefactor / motion.beta_squared;
}

double delta_rays_per_cm(const Motion& motion) {
  if (motion.largest_transfer <= kDeltaRayCut) {
    return 0;
  }
  return landau_width(motion) * (1 / kDeltaRayCut - 1 / motion.largest_transfer);
}

double scattering_angle(double momentum, double beta_squared, double thickness) {
  // Without the logarithm that corrects single thin layers: steps add up to thick ones.
  constexpr double kHighland = 13.6;  // MeV, PDG
  return kHighland / (momentum * std::sqrt(beta_squared)) * std::sqrt(thickness / kRadiationLength);
}

double recombination(double loss_per_cm) {
  // Birks' law with ICARUS' constants (NIM A 523 (2004) 275) at 0.5 kV/cm.
  constexpr double kScale = 0.8;
  constexpr double kBirks = 0.0486 / (kDensity * 0.5);
  return kScale / (1 + kBirks * loss_per_cm);
}

double compton_per_cm(double photon_energy) {
  constexpr double kThomson = 0.66524587e-24;  // cm^2
  constexpr double kElectronsPerCm3 = kDensity * kChargeOverMass * 6.02214e23;
  const double e = photon_energy / kElectronMass;
  const double a = 1 + 2 * e;
  // Klein and Nishina's total cross section.
  const double log_a = std::log(a);
  const double bracket =
      (1 + e) / (e * e) * (2 * (1 + e) / a - log_a / e) + log_a / (2 * e) - (1 + 3 * e) / (a * a);
  return kElectronsPerCm3 * kThomson * 0.75 * bracket;
}

double pairs_per_cm(double photon_energy) {
  // 7/9 per radiation length when the energy is large; the way there is logarithmic. The fit
  // follows what NIST's XCOM has for argon within 10 % between 5 and 100 MeV.
  constexpr double kAsymptote = 7.0 / (9.0 * kRadiationLength);
  constexpr double kSlope = 0.19;
  constexpr double kThreshold = 2.5;  // MeV
  return kAsymptote * std::clamp(kSlope * std::log(photon_energy / kThreshold), 0.0, 1.0);
}

double bremsstrahlung_per_cm(double electron_energy) {
  if (electron_energy <= kRadiationCut) {
    return 0;
  }
  // The integral of (4/3 - 4/3 y + y^2) / y over the photon's share y of the energy.
  const double y = kRadiationCut / electron_energy;
  const double photons = -4.0 / 3.0 * std::log(y) - 4.0 / 3.0 * (1 - y) + 0.5 * (1 - y * y);
  return std::max(0.0, photons) / kRadiationLength;
}

}  // namespace cosmic::data::detector
