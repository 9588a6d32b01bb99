#include "report/evaluation/event_result.hpp"

#include <gtest/gtest.h>

#include "report/evaluation/binned_shares.hpp"
#include "report/evaluation/made_evaluation.hpp"

namespace cosmic::report::evaluation {
namespace {

data::Particle particle(std::int32_t pdg, std::int16_t current) {
  data::Particle result;
  result.pdg = pdg;
  result.current_type = current;
  result.initial_energy = 1.5;
  return result;
}

TEST(TrueNeutrino, tells_interactions_apart_also_of_antineutrinos) {
  EXPECT_EQ(true_neutrino(particle(12, 0))->interaction, Interaction::electron_charged);
  EXPECT_EQ(true_neutrino(particle(-12, 0))->interaction, Interaction::electron_charged);
  EXPECT_EQ(true_neutrino(particle(-14, 0))->interaction, Interaction::muon_charged);
  EXPECT_EQ(true_neutrino(particle(14, 1))->interaction, Interaction::neutral);
  EXPECT_EQ(true_neutrino(particle(14, 1))->energy, 1.5);
  EXPECT_FALSE(true_neutrino(particle(13, 0)).has_value());  // a muon
}

data::SparseImage probabilities(std::vector<float> plane0, std::vector<float> plane1,
                                std::vector<float> plane2) {
  data::SparseImage image;
  image[0].values = std::move(plane0);
  image[1].values = std::move(plane1);
  image[2].values = std::move(plane2);
  return image;
}

TEST(EventScore, is_the_tenth_best_pixel_of_the_worst_plane) {
  const std::vector<float> ten_high(10, 0.9F);
  std::vector<float> mixed{0.1F, 0.95F, 0.95F, 0.95F, 0.95F, 0.95F,
                           0.2F, 0.95F, 0.95F, 0.95F, 0.95F, 0.7F};
  EXPECT_FLOAT_EQ(static_cast<float>(event_score(probabilities(ten_high, mixed, ten_high))), 0.7F);
  EXPECT_EQ(event_score(probabilities(ten_high, std::vector<float>(9, 1.0F), ten_high)), 0);
}

TEST(EventResult, has_a_neutrino_from_ten_pixels_on) {
  EXPECT_FALSE(made_event(0, {{{9, 0, 0}, {0, 0, 0}, {0, 3, 0}}}).has_neutrino());
  EXPECT_TRUE(made_event(0, {{{9, 0, 0}, {0, 0, 0}, {0, 3, 1}}}).has_neutrino());
}

TEST(EventResult, counts_neutrino_tags_where_there_is_no_charge) {
  const std::vector<float> charge{0, 1, 0, 0};
  const std::vector<std::uint8_t> classes{2, 2, 1, 2};
  infer::TaggedEvent event;
  event.charge = charge;
  event.classes = classes;
  EXPECT_EQ(count_tagged_without_charge(event), 2);
}

TEST(EventResult, finds_the_plane_with_the_fewest_tags) {
  EventResult event = made_event(0, {{{9, 0, 4}, {0, 0, 2}, {0, 0, 1}}});
  EXPECT_EQ(event.fewest_tagged(), 7);
  event.planes[1].counts[0][2] = 0;
  EXPECT_EQ(event.fewest_tagged(), 3);
}

TEST(BinnedShares, sorts_events_by_their_neutrino_pixels) {
  // 60 pixels each: [50, 100).
  const std::vector<EventResult> events{neutrino_event(0, 20, 0), neutrino_event(1, 10, 30),
                                        made_event(2, {{{9, 0, 0}, {0, 0, 0}, {0, 1, 1}}})};
  const std::vector<ShareBin> bins = shares_by_pixels(events);
  ASSERT_FALSE(bins.empty());
  EXPECT_EQ(bins.front().low, 1);
  EXPECT_EQ(bins.front().high, 10);
  EXPECT_EQ(bins.front().events, 1);
  EXPECT_DOUBLE_EQ(bins.front().efficiency.share().value, 0.5);
  EXPECT_EQ(bins.back().low, 50);
  EXPECT_EQ(bins.back().high, 100);
  EXPECT_EQ(bins.back().events, 2);
  EXPECT_DOUBLE_EQ(bins.back().efficiency.share().value, 0.75);  // 90 of 120
  EXPECT_DOUBLE_EQ(bins.back().purity.share().value, 0.5);       // 90 of 180
}

TEST(BinnedShares, knows_energies_of_any_size_and_leaves_out_events_without) {
  std::vector<EventResult> events{neutrino_event(0, 20, 0), neutrino_event(1, 10, 0),
                                  neutrino_event(2, 10, 0)};
  events[0].neutrino = TrueNeutrino{0.3, Interaction::neutral};
  events[2].neutrino = TrueNeutrino{250, Interaction::neutral};
  const std::vector<ShareBin> bins = shares_by_energy(events);
  ASSERT_FALSE(bins.empty());
  EXPECT_EQ(bins.front().low, 0.25);
  EXPECT_EQ(bins.front().events, 1);
  EXPECT_GT(bins.back().high, 250);
  EXPECT_EQ(bins.back().events, 1);
  EXPECT_TRUE(shares_by_energy({neutrino_event(0, 1, 0)}).empty());
  EXPECT_TRUE(shares_by_pixels({made_event(0, {{{9, 0, 0}, {0, 9, 0}, {0, 0, 0}}})}).empty());
}

TEST(Evaluation, adds_up_and_ranks_by_the_overlap_of_the_neutrino) {
  const Evaluation evaluation = made_evaluation(
      {neutrino_event(0, 10, 0), neutrino_event(1, 20, 0), neutrino_event(2, 20, 20),
       made_event(3, {{{9, 0, 0}, {0, 9, 0}, {0, 0, 0}}})});
  EXPECT_EQ(ranked(evaluation.events), (std::vector<std::size_t>{1, 0, 2}));
  const infer::Confusion all = evaluation.all();
  EXPECT_EQ(all.of_class(kNeutrinoClass), 180);
  EXPECT_EQ(all.counts[kNeutrinoClass][kNeutrinoClass], 150);
  EXPECT_EQ(all.predicted_as(kNeutrinoClass), 210);
  // IoU: 0.5, 1, 0.5 and, where there is nothing, 1; the factor is the reference's third.
  EXPECT_NEAR(evaluation.score("Average/Neutrino_IoU"), 3 * 0.3333333 * 0.75, 1e-12);
  EXPECT_NEAR(evaluation.score("plane1/Neutrino_IoU"), 0.75, 1e-12);
}

}  // namespace
}  // namespace cosmic::report::evaluation
