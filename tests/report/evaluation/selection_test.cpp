#include "report/evaluation/selection.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cosmic::report::evaluation {
namespace {

TEST(Selection, keeps_events_above_the_threshold) {
  const Selection selection({0.9, 0.2, 0.6, 0.6}, {0.1, 0.3});
  EXPECT_EQ(selection.above(0).neutrino, 4);
  EXPECT_EQ(selection.above(0.2).neutrino, 3);
  EXPECT_EQ(selection.above(0.6).neutrino, 1);
  EXPECT_EQ(selection.above(0.2).cosmic_only, 1);
  EXPECT_EQ(selection.above(1).neutrino, 0);
}

TEST(Selection, finds_the_tightest_cut_that_keeps_enough) {
  const Selection selection({0.9, 0.2, 0.6, 0.7}, {0.1, 0.3, 0.65});
  const auto three = selection.keeping(0.75);
  ASSERT_TRUE(three.has_value());
  EXPECT_EQ(three->neutrino, 3);
  EXPECT_EQ(three->cosmic_only, 1);
  EXPECT_EQ(three->threshold, 0.3);  // the next lower score
  const auto all = selection.keeping(1);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->neutrino, 4);
  EXPECT_EQ(all->cosmic_only, 2);
}

TEST(Selection, has_no_cut_that_keeps_events_of_score_zero) {
  const Selection selection({0.0, 0.5}, {0.1});
  EXPECT_FALSE(selection.keeping(0.9).has_value());
  EXPECT_TRUE(selection.keeping(0.5).has_value());
}

TEST(Selection, goes_through_every_cut_from_all_to_none) {
  const Selection selection({0.5, 0.7}, {0.5, 0.0});
  const auto cuts = selection.all_cuts();
  ASSERT_EQ(cuts.size(), 4U);
  EXPECT_EQ(cuts.front().neutrino, 2);
  EXPECT_EQ(cuts.front().cosmic_only, 2);
  EXPECT_EQ(cuts.back().neutrino, 0);
  EXPECT_EQ(cuts.back().cosmic_only, 0);
}

TEST(Selection, counts_pairs_in_the_right_order) {
  EXPECT_DOUBLE_EQ(Selection({0.8, 0.9}, {0.1, 0.2}).separation(), 1);
  EXPECT_DOUBLE_EQ(Selection({0.5}, {0.5}).separation(), 0.5);
  EXPECT_DOUBLE_EQ(Selection({0.8, 0.1}, {0.5}).separation(), 0.5);
  EXPECT_DOUBLE_EQ(Selection({0.3, 0.6, 0.9, 0.2}, {0.5}).separation(), 0.5);
  EXPECT_TRUE(std::isnan(Selection({0.5}, {}).separation()));
}

}  // namespace
}  // namespace cosmic::report::evaluation
