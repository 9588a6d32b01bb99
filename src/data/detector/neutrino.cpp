#include "data/detector/neutrino.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "data/detector/distributions.hpp"
#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

/// Equal shares, so that every kind can be learnt; in the beam nearly all would be muon neutrinos.
constexpr double kElectronChargedShare = 0.4;
constexpr double kMuonChargedShare = 0.4;
/// Among neutral currents, whose flavour cannot be seen.
constexpr double kElectronNeutralShare = 0.5;

/// The booster beam's interacting neutrinos: least + gamma(shape, scale) MeV, mean 1.2 GeV; the
/// real sample has 0.5 to 1.9.
constexpr double kLeastEnergy = 200;
constexpr int kEnergyShape = 4;
constexpr double kEnergyScale = 250;

/// The beam diverges by some 10 mrad over the detector; as in the real sample.
constexpr double kBeamDivergence = 0.012;

/// The sample's vertices have times of 1.9 to 10.0 us; they do not move the image, which is
/// aligned to the trigger.
constexpr double kLatestTime = 10'000;  // ns

/// Distance to the walls, cm: what starts nearer mostly leaves at once.
constexpr double kMargin = 10;

/// Mean squared momentum transfer that the lepton takes, (MeV/c)^2; 0.42e6 in the five events of
/// the real sample.
constexpr double kMomentumTransferSquared = 0.4e6;

/// Energy that it costs to make a pion (the Delta resonance less a nucleon), and energy per
/// further one.
constexpr double kPionThreshold = 200;
constexpr double kEnergyPerPion = 250;
constexpr int kMostPions = 4;

/// Nucleons that the nucleus loses besides the struck one.
constexpr double kKnockedOut = 1.5;
constexpr double kKnockedOutEnergy = 25;  // MeV, mean
constexpr int kMostKnockedOut = 8;

/// Lost to the nucleus' binding, MeV.
constexpr double kBinding = 30;

/// NUANCE's codes.
enum : std::int16_t {
  kChargedQuasielastic = 1001,
  kNeutralElastic = 1002,
  kChargedOnePion = 1003,
  kChargedOneNeutralPion = 1004,
  kNeutralOneNeutralPion = 1006,
  kNeutralOnePion = 1007,
  kChargedDeep = 1091,
  kNeutralDeep = 1092,
};

std::int16_t type_of(Current current, int charged_pions, int neutral_pions) {
  const bool charged = current == Current::charged;
  const int pions = charged_pions + neutral_pions;
  if (pions == 0) {
    return charged ? kChargedQuasielastic : kNeutralElastic;
  }
  if (pions > 1) {
    return charged ? kChargedDeep : kNeutralDeep;
  }
  if (neutral_pions == 1) {
    return charged ? kChargedOneNeutralPion : kNeutralOneNeutralPion;
  }
  return charged ? kChargedOnePion : kNeutralOnePion;
}

double momentum_of(double kinetic, double mass) {
  return std::sqrt(kinetic * (kinetic + 2 * mass));
}

/// Forward along `axis`, the more so the more energy it has.
Vec3 draw_direction(RandomStream& random, Vec3 axis, double kinetic, double mass) {
  constexpr double kTransverse = 220;  // MeV/c: what the Fermi motion and the break-up give
  const double spread = kTransverse / std::max(momentum_of(kinetic, mass), 1.0);
  const double theta = spread * std::sqrt(exponential(random, 2));
  return normalized(turned(axis, std::cos(theta), azimuth(random)));
}

struct Hadrons {
  std::vector<MovingParticle> particles;
  int charged_pions = 0;
  int neutral_pions = 0;
};

Hadrons draw_hadrons(RandomStream& random, double energy, Vec3 axis, Vec3 vertex) {
  Hadrons hadrons;
  const auto add = [&](std::int32_t number, double kinetic, Vec3 direction) {
    hadrons.particles.push_back({number, vertex, direction, kinetic});
  };
  double left = std::max(energy - kBinding, 0.0);
  int pions = 0;
  if (left > kPionThreshold) {
    pions = std::min(poisson(random, (left - kPionThreshold) / kEnergyPerPion), kMostPions);
  }
  for (int i = 0; i < pions && left > pdg::mass_of(pdg::kPion); ++i) {
    const double kind = random.uniform();
    const std::int32_t number =
        kind < 1.0 / 3 ? pdg::kNeutralPion : (kind < 2.0 / 3 ? pdg::kPion : -pdg::kPion);
    left -= pdg::mass_of(number);
    const double kinetic = left * random.uniform(0.2, 0.8);
    left -= kinetic;
    add(number, kinetic, draw_direction(random, axis, kinetic, pdg::mass_of(number)));
    (number == pdg::kNeutralPion ? hadrons.neutral_pions : hadrons.charged_pions) += 1;
  }
  const int slow = std::min(poisson(random, kKnockedOut), kMostKnockedOut);
  for (int i = 0; i < slow && left > 0; ++i) {
    const double kinetic = std::min(exponential(random, kKnockedOutEnergy), left);
    left -= kinetic;
    const std::int32_t number = random.uniform() < 0.5 ? pdg::kProton : pdg::kNeutron;
    add(number, kinetic, isotropic(random));
  }
  // The struck nucleon leaves with most of the rest, a partner that it met on its way with some. In
  // charged currents the struck one is a proton, but many change back before they are out.
  constexpr double kStruckLeast = 0.4;
  constexpr double kStruckProton = 0.5;
  constexpr double kPartnerProton = 0.5;
  const double struck_energy = left * random.uniform(kStruckLeast, 1);
  const std::array<std::pair<double, double>, 2> nucleons{
      {{struck_energy, kStruckProton}, {left - struck_energy, kPartnerProton}}};
  for (const auto& [kinetic, proton] : nucleons) {
    const std::int32_t number = random.uniform() < proton ? pdg::kProton : pdg::kNeutron;
    add(number, kinetic, draw_direction(random, axis, kinetic, pdg::mass_of(number)));
  }
  return hadrons;
}

}  // namespace

Interaction draw_interaction(RandomStream& random) {
  Interaction result;
  const double kind = random.uniform();
  if (kind < kElectronChargedShare + kMuonChargedShare) {
    result.neutrino_pdg =
        kind < kElectronChargedShare ? pdg::kElectronNeutrino : pdg::kMuonNeutrino;
  } else {
    result.current = Current::neutral;
    result.neutrino_pdg =
        random.uniform() < kElectronNeutralShare ? pdg::kElectronNeutrino : pdg::kMuonNeutrino;
  }
  result.energy = kLeastEnergy + gamma(random, kEnergyShape, kEnergyScale);
  result.direction =
      normalized({kBeamDivergence * random.normal(), kBeamDivergence * random.normal(), 1});
  result.vertex = {random.uniform(kMargin - kHalfWidth, kHalfWidth - kMargin),
                   random.uniform(kMargin - kHalfHeight, kHalfHeight - kMargin),
                   random.uniform(kMargin, kLength - kMargin)};
  result.time = random.uniform(0, kLatestTime);

  const bool charged = result.current == Current::charged;
  const std::int32_t lepton =
      charged ? result.neutrino_pdg - 1 : result.neutrino_pdg;  // 11 of 12, 13 of 14
  const double mass = pdg::mass_of(lepton);
  // The hadrons' share of the energy: mostly small, as in quasi-elastic scattering.
  constexpr double kQuasielasticShare = 0.3;
  const double elastic = random.uniform() * kQuasielasticShare;
  const double inelastic = random.uniform() * random.uniform();
  const double share = std::max(elastic, inelastic);
  const double most = std::max(result.energy - mass - 1, 1.0);
  const double lepton_energy = std::max((1 - share) * most, 1.0) + mass;
  const double lepton_momentum = momentum_of(lepton_energy - mass, mass);
  const double transfer = exponential(random, kMomentumTransferSquared);
  const double cos_theta =
      std::clamp(1 - transfer / (2 * result.energy * lepton_momentum), -1.0, 1.0);
  const Vec3 lepton_direction = normalized(turned(result.direction, cos_theta, azimuth(random)));
  if (charged) {
    result.primaries.push_back({lepton, result.vertex, lepton_direction, lepton_energy - mass});
  }
  const Vec3 momentum = result.direction * result.energy - lepton_direction * lepton_momentum;
  constexpr double kSmallMomentum = 1e-6;
  const Vec3 axis = norm(momentum) > kSmallMomentum ? normalized(momentum) : result.direction;
  Hadrons hadrons = draw_hadrons(random, result.energy - lepton_energy, axis, result.vertex);
  result.type = type_of(result.current, hadrons.charged_pions, hadrons.neutral_pions);
  result.primaries.insert(result.primaries.end(), hadrons.particles.begin(),
                          hadrons.particles.end());
  return result;
}

}  // namespace cosmic::data::detector
