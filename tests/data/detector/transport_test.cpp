#include "data/detector/transport.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

constexpr Vec3 kMiddle{100, 0, 250};
constexpr Vec3 kAlongBeam{0, 0, 1};
constexpr double kMuonMass = pdg::mass_of(pdg::kMuon);

/// One particle, alone in the detector.
struct Alone {
  Ionization ionization;
  Flight flight;

  Alone(const MovingParticle& particle, int number) {
    RandomStream random(1, "particle " + std::to_string(number));
    ionization.begin_trail(Label::cosmic, 0);
    flight = Transport(random, ionization).run(particle);
  }
};

/// Mean of measure(alone) over `count` particles.
template <class Measure>
double mean_over(int count, const MovingParticle& particle, const Measure& measure) {
  double sum = 0;
  for (int number = 0; number < count; ++number) {
    sum += measure(Alone(particle, number));
  }
  return sum / count;
}

TEST(Argon, a_minimum_ionizing_muon_loses_what_the_particle_data_group_says) {
  constexpr double kMinimum = 1.508 * 1.396;  // MeV/cm: PDG's value for argon times the density
  const Motion motion(270, kMuonMass);
  const double most = motion.largest_transfer;
  // What delta rays above the cut take in the mean.
  const double hard = landau_width(motion) * (std::log(most / kDeltaRayCut) -
                                              motion.beta_squared * (1 - kDeltaRayCut / most));
  EXPECT_NEAR(restricted_loss(motion) + hard, kMinimum, 0.02 * kMinimum);
}

TEST(Argon, photons_of_some_MeV_go_furthest) {
  const auto path = [](double energy) {
    return 1 / (compton_per_cm(energy) + pairs_per_cm(energy));
  };
  // NIST's XCOM for argon at 1.396 g/cm^3: 12.4 cm at 1 MeV, 25.5 at 5, 29.7 at 10, 30 at 20.
  EXPECT_NEAR(path(1), 12.4, 1.2);
  EXPECT_NEAR(path(5), 25.5, 2.6);
  EXPECT_NEAR(path(10), 29.7, 3.0);
  EXPECT_NEAR(path(2000), 9.0 / 7 * kRadiationLength, 0.5);
}

TEST(Argon, dense_ionization_recombines_more) {
  EXPECT_NEAR(recombination(2.1), 0.7, 0.02);
  EXPECT_LT(recombination(20), 0.5 * recombination(2.1));
}

TEST(Transport, a_fast_muon_crosses_the_detector_and_leaves_two_MeV_per_cm) {
  const MovingParticle muon{pdg::kMuon, {100, 0, 1}, kAlongBeam, 4000};
  EXPECT_NEAR(mean_over(20, muon, [](const Alone& a) { return a.flight.length; }), 499, 3);
  const double per_cm =
      mean_over(20, muon, [](const Alone& a) { return a.ionization.energy() / a.flight.length; });
  EXPECT_GT(per_cm, 2.0);
  EXPECT_LT(per_cm, 2.7);
}

TEST(Transport, loss_of_a_muon_fluctuates_more_upwards_than_downwards) {
  const Alone muon({pdg::kMuon, {100, 0, 1}, kAlongBeam, 4000}, 0);
  std::vector<double> losses;
  // Its own deposits come first, then those of its delta rays.
  const auto own = static_cast<std::size_t>(muon.flight.length / 0.3);
  for (const Deposit& deposit :
       muon.ionization.deposits_of(muon.ionization.trails().front()).first(own)) {
    losses.push_back(deposit.charge);
  }
  std::sort(losses.begin(), losses.end());
  const double median = losses[losses.size() / 2];
  EXPECT_GT(losses[losses.size() * 95 / 100] - median, 1.5 * (median - losses[losses.size() / 20]));
}

TEST(Transport, a_stopping_muon_has_a_bragg_rise) {
  constexpr double kEnergy = 250;
  double end = 0;
  double before = 0;
  for (int number = 0; number < 100; ++number) {
    // Negative, so that few Michel electrons hide the end.
    const Alone muon({pdg::kMuon, {100, 0, 50}, kAlongBeam, kEnergy}, number);
    ASSERT_TRUE(in_active_volume(muon.flight.end));
    for (const Deposit& d : muon.ionization.deposits_of(muon.ionization.trails().front())) {
      const double to_end = norm(d.from - muon.flight.end);
      end += to_end < 1 ? d.charge : 0;
      before += to_end > 30 && to_end < 31 ? d.charge : 0;
    }
  }
  // Of the last centimetre to one 30 cm before the end, after recombination.
  EXPECT_GT(end / before, 1.6);
  EXPECT_LT(end / before, 6);
}

TEST(Transport, positive_muons_at_rest_give_a_michel_electron_and_most_negative_ones_do_not) {
  const auto more_than_its_own = [](std::int32_t number) {
    constexpr double kEnergy = 100;
    return mean_over(300, {number, kMiddle, kAlongBeam, kEnergy}, [](const Alone& a) {
      return a.ionization.energy() > kEnergy + 1 ? 1.0 : 0.0;
    });
  };
  EXPECT_GT(more_than_its_own(-pdg::kMuon), 0.95);
  EXPECT_NEAR(more_than_its_own(pdg::kMuon), 0.25, 0.07);
}

TEST(Transport, protons_of_100_MeV_stop_after_some_8_cm) {
  // NIST's PSTAR for argon: 10.8 g/cm^2; some break up a nucleus before.
  std::vector<double> lengths;
  for (int number = 0; number < 101; ++number) {
    lengths.push_back(Alone({pdg::kProton, kMiddle, kAlongBeam, 100}, number).flight.length);
  }
  std::nth_element(lengths.begin(), lengths.begin() + 50, lengths.end());
  EXPECT_NEAR(lengths[50], 7.7, 0.6);
}

TEST(Transport, many_small_scatters_add_up_to_highlands_angle) {
  constexpr double kEnergy = 1000;
  constexpr double kDistance = 100;
  double sum = 0;
  constexpr int kMuons = 200;
  for (int number = 0; number < kMuons; ++number) {
    const Alone muon({pdg::kMuon, {100, 0, 50}, kAlongBeam, kEnergy}, number);
    for (const Deposit& d : muon.ionization.deposits_of(muon.ionization.trails().front())) {
      if (d.from.z - 50 <= kDistance && d.to.z - 50 > kDistance) {
        sum += d.to.y * d.to.y;
        break;
      }
    }
  }
  // The mean loss on the way lowers the momentum by a tenth; 100 cm are 7.1 radiation lengths.
  const Motion motion(kEnergy - 100, kMuonMass);
  const double angle = scattering_angle(motion.momentum, motion.beta_squared, kDistance);
  EXPECT_NEAR(std::sqrt(sum / kMuons), angle * kDistance / std::sqrt(3.0), 0.7);
}

TEST(Transport, a_shower_keeps_its_energy_and_loses_little_of_it_to_the_outside) {
  constexpr double kEnergy = 500;
  const double seen = mean_over(30, {pdg::kElectron, {100, 0, 100}, kAlongBeam, kEnergy},
                                [](const Alone& a) { return a.ionization.energy(); });
  EXPECT_LT(seen, kEnergy);
  EXPECT_GT(seen, 0.85 * kEnergy);
}

TEST(Transport, photons_leave_a_gap_before_they_convert) {
  const double gap = mean_over(500, {pdg::kPhoton, {100, 0, 50}, kAlongBeam, 500},
                               [](const Alone& a) { return a.flight.length; });
  EXPECT_NEAR(gap, 9.0 / 7 * kRadiationLength, 2.5);
}

TEST(Transport, a_neutral_pion_becomes_two_photons_with_its_energy) {
  constexpr double kEnergy = 300;
  const double seen = mean_over(30, {pdg::kNeutralPion, {100, 0, 150}, kAlongBeam, kEnergy},
                                [](const Alone& a) { return a.ionization.energy(); });
  const double all = kEnergy + pdg::mass_of(pdg::kNeutralPion);
  EXPECT_LT(seen, all);
  EXPECT_GT(seen, 0.75 * all);
}

TEST(Transport, nothing_is_deposited_outside_the_active_volume) {
  for (int number = 0; number < 20; ++number) {
    const Alone shower({pdg::kElectron, {190, 190, 490}, kAlongBeam, 1000}, number);
    for (const Deposit& d : shower.ionization.deposits_of(shower.ionization.trails().front())) {
      ASSERT_TRUE(in_active_volume((d.from + d.to) * 0.5));
    }
  }
}

TEST(Transport, a_muon_across_the_cathode_goes_on_and_leaves_no_charge_inside_it) {
  const Alone muon({pdg::kMuon, {-50, 0, 250}, {1, 0, 0}, 4000}, 0);
  bool before = false;
  bool behind = false;
  for (const Deposit& d : muon.ionization.deposits_of(muon.ionization.trails().front())) {
    const double middle = 0.5 * (d.from.x + d.to.x);
    ASSERT_GE(std::abs(middle), kHalfCathode);
    before |= middle < 0 && middle > -kHalfCathode - 1;
    behind |= middle > 0 && middle < kHalfCathode + 1;
  }
  EXPECT_TRUE(before);
  EXPECT_TRUE(behind);
}

}  // namespace
}  // namespace cosmic::data::detector
