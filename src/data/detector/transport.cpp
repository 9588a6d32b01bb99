// Muons, pions, protons, neutrons and neutral pions; electrons and photons are in cascade.cpp.
#include "data/detector/transport.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "core/error.hpp"
#include "data/detector/distributions.hpp"
#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

/// Less kinetic energy than this is left within a small part of a pixel.
constexpr double kAtRest = 0.5;

/// Mean free paths in argon, in cm (PDG: nuclear interaction length 85.7 cm; pions and slow
/// neutrons see a little less).
constexpr double kHadronLength = 86;
constexpr double kNeutronLength = 60;

/// Share of negative muons at rest in argon that decay; the others are captured (Suzuki et al., PRC
/// 35 (1987) 2212).
constexpr double kMuonDecayShare = 0.25;

/// Highest energy of an electron from a muon's decay.
constexpr double kMichelEnd = 52.8;

bool is_hadron(std::int32_t number) {
  return std::abs(number) == pdg::kPion || number == pdg::kProton;
}

/// Energy of a Michel electron, from x^2 (3 - 2x).
double michel_energy(RandomStream& random) {
  for (;;) {
    const double x = random.uniform();
    if (random.uniform() < x * x * (3 - 2 * x)) {
      return x * kMichelEnd;
    }
  }
}

}  // namespace

Flight Transport::run(const MovingParticle& particle) {
  COSMIC_ASSERT(waiting_.empty());
  const Flight flight = follow(particle);
  while (!waiting_.empty()) {
    const MovingParticle next = waiting_.back();
    waiting_.pop_back();
    follow(next);
  }
  return flight;
}

Flight Transport::follow(MovingParticle particle) {
  switch (std::abs(particle.pdg)) {
    case pdg::kMuon:
    case pdg::kPion:
    case pdg::kProton:
      return follow_track(particle);
    case pdg::kElectron:
      return follow_electron(particle);
    case pdg::kPhoton:
      return follow_photon(particle);
    case pdg::kNeutron:
      return follow_neutron(particle);
    case pdg::kNeutralPion:
      decay_neutral_pion(particle);
      return {particle.position, 0};
    default:
      COSMIC_ASSERT(false);
  }
}

double Transport::draw_loss(double mean, double width) {
  // Moyal's form has a tail below zero in thin layers, where Landau's ends at some part of the
  // mean.
  constexpr double kLeastPart = 0.3;
  // The tail above the cut is made of delta rays that are followed themselves.
  return std::clamp(mean + width * centred_moyal(random_), kLeastPart * mean, mean + kDeltaRayCut);
}

void Transport::scatter(MovingParticle& particle, double angle) {
  constexpr double kSmall = 0.1;  // radians: it is its tangent within 1 %, however often it comes
  if (angle < kSmall) {
    const double a = angle * nearly_normal(random_);
    const double b = angle * nearly_normal(random_);
    particle.direction = deflected(particle.direction, a, b);
    return;
  }
  // Two independent normal angles are one of Rayleigh's distribution at a random azimuth.
  const double theta = angle * std::sqrt(exponential(random_, 2));
  particle.direction = normalized(turned(particle.direction, std::cos(theta), azimuth(random_)));
}

Flight Transport::follow_track(MovingParticle particle) {
  const double mass = pdg::mass_of(particle.pdg);
  const bool hadron = is_hadron(particle.pdg);
  Flight flight{particle.position, 0};
  if (particle.kinetic_energy <= kAtRest) {
    ionization_.add(particle.position, particle.position, particle.kinetic_energy);
    end_at_rest(particle);
    return flight;
  }
  while (in_active_volume(particle.position)) {
    const Motion motion(particle.kinetic_energy, mass);
    const double mean = restricted_loss(motion) * kStep;
    const double width = landau_width(motion) * kStep;
    const double loss = draw_loss(mean, width);
    const bool stops = loss >= particle.kinetic_energy - kAtRest;
    const double lost = stops ? particle.kinetic_energy : loss;
    const double step = stops ? kStep * std::min(1.0, lost / loss) : kStep;
    const Vec3 next = particle.position + particle.direction * step;
    ionization_.add(particle.position, next, lost);
    flight = {next, flight.length + step};
    if (stops) {
      end_at_rest({particle.pdg, next, particle.direction, 0});
      break;
    }
    particle.position = next;
    particle.kinetic_energy -= lost;
    particle.kinetic_energy -= make_delta_ray(particle, motion, step);
    scatter(particle, scattering_angle(motion.momentum, motion.beta_squared, step));
    if (hadron && random_.uniform() < step / kHadronLength) {
      break_up(particle);
      break;
    }
  }
  return flight;
}

double Transport::make_delta_ray(const MovingParticle& parent, const Motion& motion, double step) {
  if (random_.uniform() >= delta_rays_per_cm(motion) * step) {
    return 0;
  }
  const double most = motion.largest_transfer;
  const double inverse = 1 / kDeltaRayCut - random_.uniform() * (1 / kDeltaRayCut - 1 / most);
  const double energy = 1 / inverse;
  // The second condition is the rest of the cross section of a point-like particle.
  if (energy > parent.kinetic_energy - kAtRest ||
      random_.uniform() < motion.beta_squared * energy / most) {
    return 0;
  }
  const double cos_theta =
      std::sqrt(energy * (most + 2 * kElectronMass) / (most * (energy + 2 * kElectronMass)));
  waiting_.push_back({pdg::kElectron, parent.position,
                      turned(parent.direction, std::min(cos_theta, 1.0), azimuth(random_)),
                      energy});
  return energy;
}

void Transport::end_at_rest(const MovingParticle& particle) {
  const auto decays = [&](bool negative) {
    return !negative || random_.uniform() < kMuonDecayShare;
  };
  // A stopped pi+ becomes a muon that stops within a millimetre; a pi- is captured.
  const bool electron = (std::abs(particle.pdg) == pdg::kMuon && decays(particle.pdg > 0)) ||
                        particle.pdg == pdg::kPion;
  if (electron) {
    waiting_.push_back(
        {pdg::kElectron, particle.position, isotropic(random_), michel_energy(random_)});
  }
}

void Transport::break_up(const MovingParticle& hadron) {
  // A nucleus takes the hadron and lets go of a few nucleons: at most three protons, of which each
  // gets a part of what is left, forward rather than backward.
  constexpr double kMeanProtons = 1.2;
  constexpr int kMostProtons = 3;
  constexpr double kProtonsPart = 0.7;  // binding and neutrons take the rest
  double energy = kProtonsPart * hadron.kinetic_energy;
  const int protons = std::min(poisson(random_, kMeanProtons), kMostProtons);
  for (int i = 0; i < protons; ++i) {
    const double share = energy * random_.uniform();
    energy -= share;
    const double cos_theta = 2 * std::sqrt(random_.uniform()) - 1;
    waiting_.push_back({pdg::kProton, hadron.position,
                        turned(hadron.direction, cos_theta, azimuth(random_)), share});
  }
}

Flight Transport::follow_neutron(MovingParticle particle) {
  const double path = exponential(random_, kNeutronLength);
  const Vec3 end = particle.position + particle.direction * path;
  if (in_active_volume(end)) {
    // A proton is knocked out and shares the energy; the neutron's rest is too slow to be seen.
    const double cos_theta = std::sqrt(random_.uniform());
    waiting_.push_back({pdg::kProton, end, turned(particle.direction, cos_theta, azimuth(random_)),
                        particle.kinetic_energy * cos_theta * cos_theta});
  }
  return {end, path};
}

void Transport::decay_neutral_pion(const MovingParticle& pion) {
  const Motion motion(pion.kinetic_energy, pdg::mass_of(pdg::kNeutralPion));
  const double beta = std::sqrt(motion.beta_squared);
  const double cos_rest = random_.uniform(-1, 1);
  const double phi = azimuth(random_);
  for (const double c : {cos_rest, -cos_rest}) {
    const double energy = 0.5 * pdg::mass_of(pdg::kNeutralPion) * motion.gamma * (1 + beta * c);
    const double cos_theta = (c + beta) / (1 + beta * c);
    const double side = c == cos_rest ? phi : phi + std::numbers::pi;
    waiting_.push_back(
        {pdg::kPhoton, pion.position, turned(pion.direction, cos_theta, side), energy});
  }
}

}  // namespace cosmic::data::detector
