#include "report/profile/op_times.hpp"

#include <gmock/gmock.h>

#include "report/profile/run_profile.hpp"

namespace cosmic::report::profile {
namespace {

std::vector<session::OpTiming> timings(double first, double second, double third) {
  const graph::TensorType type{graph::DType::f32, {2, 3}};
  return {{"conv", "block1", type, first, {100, 10}},
          {"leaky", "block1", type, second, {0, 20}},
          {"conv", "block2", type, third, {300, 30}}};
}

TEST(OpTimes, are_means_without_the_first_step) {
  OpTimes times;
  times.add(100, timings(50, 20, 10));
  times.add(10, timings(4, 2, 1));
  times.add(20, timings(8, 4, 3));
  EXPECT_EQ(times.steps(), 2);
  EXPECT_EQ(times.left_out(), 1);
  EXPECT_EQ(times.call_seconds(), 15);
  const std::vector<OpProfile> ops = times.ops();
  ASSERT_EQ(ops.size(), 3U);
  EXPECT_EQ(ops[0].seconds, 6);
  EXPECT_EQ(ops[1].seconds, 3);
  EXPECT_EQ(ops[2].seconds, 2);
  EXPECT_EQ(ops[0].type, "f32[2x3]");
  EXPECT_EQ(times.all_call_seconds(), 130);
  EXPECT_EQ(times.all_op_seconds(), 102);
}

TEST(OpTimes, of_steps_that_were_timed_in_a_run_of_their_own_stay_within_their_calls) {
  OpTimes times;
  times.add(10, timings(8, 4, 3));
  times.add(20, timings(8, 4, 3));
  EXPECT_EQ(times.all_op_seconds(), 10 + 15);
  EXPECT_EQ(total(times.ops()).seconds, 15) << "as they were timed";
}

TEST(OpTimes, of_a_single_step_are_all_there_is) {
  OpTimes times;
  times.add(100, timings(50, 20, 10));
  EXPECT_EQ(times.steps(), 1);
  EXPECT_EQ(times.left_out(), 0);
  EXPECT_EQ(times.call_seconds(), 100);
  EXPECT_EQ(times.ops()[0].seconds, 50);
}

TEST(OpProfiles, add_up_by_kind_and_by_layer_with_the_slowest_first) {
  OpTimes times;
  times.add(10, timings(1, 5, 2));
  const std::vector<OpProfile> kinds = by_op(times.ops());
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].op, "leaky");
  EXPECT_EQ(kinds[1].op, "conv");
  EXPECT_EQ(kinds[1].ops, 2);
  EXPECT_EQ(kinds[1].seconds, 3);
  EXPECT_EQ(kinds[1].cost.flops, 400);
  EXPECT_EQ(kinds[1].cost.bytes, 40);
  const std::vector<OpProfile> layers = by_layer(times.ops());
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].layer, "block1");
  EXPECT_EQ(layers[0].seconds, 6);
  EXPECT_EQ(total(times.ops()).seconds, 8);
}

TEST(Roofline, has_a_peak_that_says_where_it_comes_from) {
  session::Machine machine;
  machine.peak = target::Peak{};
  EXPECT_EQ(origin_of_peak(machine), "measured");
  machine.provenance = Provenance::modelled;
  EXPECT_EQ(origin_of_peak(machine), "modelled");
  machine.peak->origin = "as the device describes itself";
  EXPECT_EQ(origin_of_peak(machine), "as the device describes itself");
}

TEST(Roofline, is_what_takes_longer_arithmetic_or_memory) {
  session::Machine machine;
  machine.peak = target::Peak{.flops_per_second = 100, .bytes_per_second = 10};
  EXPECT_EQ(least_seconds({.cost = {200, 10}}, machine), 2);
  EXPECT_EQ(least_seconds({.cost = {10, 30}}, machine), 3);
  EXPECT_EQ(roofline_share({.seconds = 6, .cost = {10, 30}}, machine), 0.5);
  EXPECT_EQ(least_seconds({.cost = {0, 0}}, machine), std::nullopt);
  EXPECT_EQ(roofline_share({.seconds = 0, .cost = {10, 30}}, machine), std::nullopt);
  machine.peak.reset();
  EXPECT_EQ(least_seconds({.cost = {200, 10}}, machine), std::nullopt);
}

}  // namespace
}  // namespace cosmic::report::profile
