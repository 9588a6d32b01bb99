// Electrons and photons: what makes electromagnetic showers, and the small blobs around them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/detector/distributions.hpp"
#include "data/detector/species.hpp"
#include "data/detector/transport.hpp"

namespace cosmic::data::detector {
namespace {

/// An electron with less ends where it is; its range is 0.1 mm.
constexpr double kElectronAtRest = 0.05;

/// Below, argon absorbs photons within millimetres.
constexpr double kPhotonAbsorbed = 0.06;

/// Loss per cm to ionization of a fast electron (ESTAR: 1.36 MeV cm^2/g at 1 MeV for argon, and
/// rising slowly); divided by beta^2 it follows slow ones too.
constexpr double kElectronLoss = 1.95;

/// The same fluctuation as for a fast heavy particle, per cm.
constexpr double kElectronLossWidth = 0.0966;

}  // namespace

Flight Transport::follow_electron(MovingParticle particle) {
  Flight flight{particle.position, 0};
  if (particle.kinetic_energy <= kElectronAtRest) {
    ionization_.add(particle.position, particle.position, particle.kinetic_energy);
    return flight;
  }
  while (in_active_volume(particle.position)) {
    const double energy = particle.kinetic_energy + kElectronMass;
    const double momentum = std::sqrt(particle.kinetic_energy * (energy + kElectronMass));
    const double beta_squared = momentum * momentum / (energy * energy);
    const double per_cm = kElectronLoss / beta_squared;
    // Slow electrons turn around within a pixel, so they step by a part of their range.
    constexpr double kPartOfRange = 0.3;
    constexpr double kShortestStep = 0.01;
    const double step =
        std::min(kStep, kPartOfRange * particle.kinetic_energy / per_cm + kShortestStep);
    const double loss = draw_loss(per_cm * step, kElectronLossWidth * step / beta_squared);
    const bool stops = loss >= particle.kinetic_energy - kElectronAtRest;
    const double lost = stops ? particle.kinetic_energy : loss;
    const Vec3 next = particle.position + particle.direction * step;
    ionization_.add(particle.position, next, lost);
    flight = {next, flight.length + step};
    particle.position = next;
    if (stops) {
      break;
    }
    particle.kinetic_energy -= lost;
    if (random_.uniform() < bremsstrahlung_per_cm(particle.kinetic_energy) * step) {
      particle.kinetic_energy -= radiate(particle);
    }
    scatter(particle, scattering_angle(momentum, beta_squared, step));
  }
  if (particle.pdg == -pdg::kElectron && in_active_volume(particle.position)) {
    const Vec3 direction = isotropic(random_);
    waiting_.push_back({pdg::kPhoton, particle.position, direction, kElectronMass});
    waiting_.push_back({pdg::kPhoton, particle.position, direction * -1, kElectronMass});
  }
  return flight;
}

double Transport::radiate(const MovingParticle& electron) {
  for (;;) {
    const double share = std::pow(kRadiationCut / electron.kinetic_energy, random_.uniform());
    if (random_.uniform() < 1 - share + 0.75 * share * share) {
      const double energy = share * electron.kinetic_energy;
      waiting_.push_back({pdg::kPhoton, electron.position, electron.direction, energy});
      return energy;
    }
  }
}

Flight Transport::follow_photon(MovingParticle particle) {
  Flight flight{particle.position, 0};
  for (;;) {
    const double compton = compton_per_cm(particle.kinetic_energy);
    const double pairs = pairs_per_cm(particle.kinetic_energy);
    const double path = exponential(random_, 1 / (compton + pairs));
    particle.position = particle.position + particle.direction * path;
    flight = {particle.position, flight.length + path};
    if (!in_active_volume(particle.position)) {
      return flight;
    }
    if (random_.uniform() * (compton + pairs) < pairs) {
      make_pair(particle);
      return flight;
    }
    particle.kinetic_energy = scatter_photon(particle);
    if (particle.kinetic_energy < kPhotonAbsorbed) {
      ionization_.add(particle.position, particle.position, particle.kinetic_energy);
      return flight;
    }
  }
}

void Transport::make_pair(const MovingParticle& photon) {
  // The energy is shared almost evenly between all shares; the opening angle is too small to see.
  const double energy = photon.kinetic_energy - 2 * kElectronMass;
  const double share = random_.uniform();
  waiting_.push_back({pdg::kElectron, photon.position, photon.direction, energy * share});
  waiting_.push_back({-pdg::kElectron, photon.position, photon.direction, energy * (1 - share)});
}

double Transport::scatter_photon(MovingParticle& photon) {
  // Klein and Nishina: the energy that stays with the photon is a share between 1/(1+2e) and 1;
  // drawn from its 1/share envelope and thinned.
  const double e = photon.kinetic_energy / kElectronMass;
  const double least = 1 / (1 + 2 * e);
  for (;;) {
    const double share = std::pow(least, random_.uniform());
    const double one_minus_cos = (1 / share - 1) / e;
    const double sin_squared = one_minus_cos * (2 - one_minus_cos);
    if (random_.uniform() >= 0.5 * (1 + share * share - share * sin_squared)) {
      continue;
    }
    const double phi = azimuth(random_);
    const double left = share * photon.kinetic_energy;
    const Vec3 before = photon.direction * photon.kinetic_energy;
    photon.direction = normalized(turned(photon.direction, 1 - one_minus_cos, phi));
    const Vec3 recoil = before - photon.direction * left;
    const double given = photon.kinetic_energy - left;
    if (given > 0) {
      waiting_.push_back({pdg::kElectron, photon.position, normalized(recoil), given});
    }
    return left;
  }
}

}  // namespace cosmic::data::detector
