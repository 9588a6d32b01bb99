// What comes into the detector: cosmic rays and neutrinos.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "data/detector/cosmic_rays.hpp"
#include "data/detector/neutrino.hpp"
#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

constexpr int kReadouts = 1000;

std::vector<CosmicRay> many_rays() {
  std::vector<CosmicRay> all;
  for (int readout = 0; readout < kReadouts; ++readout) {
    RandomStream random(3, "sky " + std::to_string(readout));
    const std::vector<CosmicRay> rays = draw_cosmic_rays(random, 1);
    all.insert(all.end(), rays.begin(), rays.end());
  }
  return all;
}

bool is_muon(const CosmicRay& ray) {
  return std::abs(ray.particle.pdg) == pdg::kMuon;
}

TEST(CosmicRays, as_many_muons_come_as_the_flux_through_the_surface_says) {
  const std::vector<CosmicRay> rays = many_rays();
  const auto muons = static_cast<double>(std::count_if(rays.begin(), rays.end(), is_muon));
  // Integrals of 70 cos^2 per m^2, s and sr over the top (4 m x 5 m) and the four sides.
  const double top = 20.0 * 2 * std::numbers::pi / 4;
  const double sides = 2 * (16.0 + 20.0) * std::numbers::pi / 8;
  const double expected = 70 * (top + sides) * 2 * kReadoutWindow * 1e-6;
  EXPECT_NEAR(muons / kReadouts, expected, 0.05 * expected);
}

TEST(CosmicRays, all_come_from_above_into_the_volume_within_two_readout_windows) {
  for (const CosmicRay& ray : many_rays()) {
    ASSERT_LT(ray.particle.direction.y, 0);
    ASSERT_NEAR(norm(ray.particle.direction), 1, 1e-9);
    ASSERT_TRUE(in_active_volume(ray.particle.position));
    ASSERT_LE(std::abs(ray.time), kReadoutWindow);
    const Vec3 p = ray.particle.position;
    const double to_wall =
        std::min({kHalfWidth - std::abs(p.x), kHalfHeight - std::abs(p.y), p.z, kLength - p.z});
    ASSERT_LT(to_wall, 1e-3);
  }
}

TEST(CosmicRays, muons_have_the_spectrum_of_sea_level) {
  std::vector<double> energies;
  for (const CosmicRay& ray : many_rays()) {
    if (is_muon(ray)) {
      energies.push_back(ray.particle.kinetic_energy);
    }
  }
  std::sort(energies.begin(), energies.end());
  // (E0 + E)^-3 with E0 = 4.29 GeV: half is above 1.78 GeV, a tenth above 9.3 GeV.
  EXPECT_NEAR(energies[energies.size() / 2], 1780, 100);
  EXPECT_NEAR(energies[energies.size() * 9 / 10], 9280, 700);
}

TEST(CosmicRays, twice_the_flux_is_twice_as_many) {
  double once = 0;
  double twice = 0;
  for (int readout = 0; readout < kReadouts; ++readout) {
    RandomStream first(5, "sky " + std::to_string(readout));
    RandomStream second(6, "sky " + std::to_string(readout));
    once += static_cast<double>(draw_cosmic_rays(first, 1).size());
    twice += static_cast<double>(draw_cosmic_rays(second, 2).size());
  }
  EXPECT_NEAR(twice / once, 2, 0.1);
}

std::vector<Interaction> many_interactions() {
  std::vector<Interaction> all;
  for (int number = 0; number < 3000; ++number) {
    RandomStream random(4, "neutrino " + std::to_string(number));
    all.push_back(draw_interaction(random));
  }
  return all;
}

TEST(Neutrino, all_three_kinds_occur_often_enough_to_be_learnt) {
  std::map<std::string, int> kinds;
  const std::vector<Interaction> all = many_interactions();
  for (const Interaction& one : all) {
    kinds[one.current == Current::neutral              ? "neutral"
          : one.neutrino_pdg == pdg::kElectronNeutrino ? "electron"
                                                       : "muon"] += 1;
  }
  const auto share = [&](const char* kind) {
    return kinds[kind] / static_cast<double>(all.size());
  };
  EXPECT_NEAR(share("electron"), 0.4, 0.03);
  EXPECT_NEAR(share("muon"), 0.4, 0.03);
  EXPECT_NEAR(share("neutral"), 0.2, 0.03);
}

TEST(Neutrino, a_charged_current_has_the_lepton_of_its_flavour_and_a_neutral_one_has_none) {
  for (const Interaction& one : many_interactions()) {
    const auto leptons = std::count_if(
        one.primaries.begin(), one.primaries.end(),
        [](const MovingParticle& p) { return p.pdg == pdg::kElectron || p.pdg == pdg::kMuon; });
    if (one.current == Current::charged) {
      ASSERT_EQ(leptons, 1);
      ASSERT_EQ(one.primaries.front().pdg, one.neutrino_pdg - 1);
    } else {
      ASSERT_EQ(leptons, 0);
    }
  }
}

TEST(Neutrino, its_particles_start_at_a_vertex_inside_and_have_no_more_energy_than_it_had) {
  for (const Interaction& one : many_interactions()) {
    ASSERT_TRUE(in_active_volume(one.vertex));
    double energy = 0;
    for (const MovingParticle& primary : one.primaries) {
      ASSERT_EQ(norm(primary.position - one.vertex), 0);
      ASSERT_GE(primary.kinetic_energy, 0);
      ASSERT_NEAR(norm(primary.direction), 1, 1e-9);
      const bool nucleon = primary.pdg == pdg::kProton || primary.pdg == pdg::kNeutron;
      energy += primary.kinetic_energy + (nucleon ? 0 : pdg::mass_of(primary.pdg));
    }
    ASSERT_LE(energy, one.energy);
  }
}

TEST(Neutrino, energies_are_those_of_the_booster_beam) {
  double sum = 0;
  const std::vector<Interaction> all = many_interactions();
  for (const Interaction& one : all) {
    sum += one.energy;
  }
  // Of the real sample: 0.49 to 1.89 GeV, mean 1.26.
  EXPECT_NEAR(sum / static_cast<double>(all.size()), 1300, 150);
}

}  // namespace
}  // namespace cosmic::data::detector
