// The reference is what every other target is measured against, so its own values are checked here
// against numbers worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/builder.hpp"
#include "target/reference/evaluate.hpp"
#include "target/reference/reference_target.hpp"

namespace cosmic::target::reference {
namespace {

using graph::DType;
using testing::Pointwise;

Tensor f32(graph::Shape shape, std::vector<double> data) {
  return {{DType::f32, std::move(shape)}, std::move(data)};
}

Tensor u8(graph::Shape shape, std::vector<double> data) {
  return {{DType::u8, std::move(shape)}, std::move(data)};
}

std::vector<double> apply(const graph::AnyOp& op, const std::vector<Tensor>& inputs) {
  graph::Builder builder;
  std::vector<graph::ValueId> operands;
  for (const Tensor& input : inputs) {
    operands.push_back(builder.input("in" + std::to_string(operands.size()), input.type));
  }
  const graph::ValueId y = builder.add(op, operands);
  return evaluate(builder.graph(), inputs)[y.index()].data;
}

MATCHER(is_near, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-12;
}

auto near(const std::vector<double>& expected) {
  return Pointwise(is_near(), expected);
}

TEST(ReferenceValues, conv_does_not_flip_its_kernel) {
  EXPECT_THAT(apply(graph::Conv{{{1, 1, 1}, {0, 0, 1}}},
                    {f32({1, 1, 1, 3}, {1, 10, 100}), f32({1, 1, 1, 3}, {1, 2, 3})}),
              near({32, 321, 210}));
}

TEST(ReferenceValues, two_dimensional_ops_ignore_what_is_said_about_depth) {
  const Tensor image = f32({1, 1, 1, 2}, {1, 2});
  EXPECT_THAT(apply(graph::Conv{{{3, 1, 1}, {2, 0, 0}}}, {image, f32({1, 1, 1, 1}, {5})}),
              near({5, 10}));
  EXPECT_THAT(apply(graph::MaxPool{{4, 1, 2}}, {image}), near({2}));
  EXPECT_THAT(apply(graph::Upsample{graph::Interpolation::nearest, {4, 1, 2}}, {image}),
              near({1, 1, 2, 2}));
}

TEST(ReferenceValues, conv_with_stride_two_adds_channels_bias_and_addend) {
  EXPECT_THAT(apply(graph::Conv{{{1, 2, 2}, {}}},
                    {f32({1, 2, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 1, 1, 1, 1}),
                     f32({1, 2, 2, 2}, {1, 10, 100, 1000, 1, 1, 1, 1}), f32({1}, {0.5}),
                     f32({1, 1, 1, 2}, {10000, 20000})}),
              near({6521 + 4 + 10000.5, 8743 + 4 + 20000.5}));
}

TEST(ReferenceValues, conv_transpose_with_stride_two_paints_its_kernel) {
  EXPECT_THAT(apply(graph::ConvTranspose{{{1, 2, 2}, {}}, {2, 4}},
                    {f32({1, 1, 1, 2}, {1, 10}), f32({1, 1, 2, 2}, {1, 2, 3, 4})}),
              near({1, 2, 10, 20, 3, 4, 30, 40}));
}

TEST(ReferenceValues, scale_filters_reads_only_the_scales) {
  EXPECT_THAT(apply(graph::ScaleFilters{1},
                    {f32({1, 2, 1, 2}, {1, 2, 3, 4}), f32({2, 1, 2}, {10, 100, -1, -1})}),
              near({10, 20, 300, 400}));
}

TEST(ReferenceValues, bilinear_upsample_does_not_align_corners) {
  EXPECT_THAT(apply(graph::Upsample{}, {f32({1, 1, 1, 4}, {0, 1, 2, 3})}),
              near({0, .25, .75, 1.25, 1.75, 2.25, 2.75, 3,  //
                    0, .25, .75, 1.25, 1.75, 2.25, 2.75, 3}));
}

TEST(ReferenceValues, max_pool_gradient_goes_to_the_first_of_several_largest) {
  EXPECT_THAT(apply(graph::MaxPoolGradient{},
                    {f32({1, 1, 2, 4}, {1, 2, 5, 5, 2, 2, 5, 5}), f32({1, 1, 1, 2}, {7, 9})}),
              near({0, 7, 9, 0, 0, 0, 0, 0}));
}

TEST(ReferenceValues, statistics_are_per_group_with_biased_variance) {
  EXPECT_THAT(apply(graph::Statistics{2, 1}, {f32({2, 2, 1, 2}, {1, 3, 2, 2, 0, 8, 5, 7})}),
              near({2, 2, 4, 6, 1, 0, 16, 1}));
}

TEST(ReferenceValues, pooled_channels_share_their_statistics) {
  EXPECT_THAT(apply(graph::Statistics{1, 2}, {f32({1, 2, 1, 2}, {1, 3, 5, 7})}),
              near({4, 4, 5, 5}));
}

TEST(ReferenceValues, running_variance_is_unbiased_and_updated_once_per_group) {
  using Of = graph::RunningUpdate::Of;
  const Tensor running = f32({1}, {1});
  const Tensor statistics = f32({2, 2, 1}, {10, 20, 3, 6});
  EXPECT_THAT(apply(graph::RunningUpdate{Of::mean, 0.5, 4}, {running, statistics}),
              near({(1 * 0.5 + 10 * 0.5) * 0.5 + 20 * 0.5}));
  EXPECT_THAT(apply(graph::RunningUpdate{Of::variance, 0.5, 4}, {running, statistics}),
              near({(1 * 0.5 + 4 * 0.5) * 0.5 + 8 * 0.5}));
}

TEST(ReferenceValues, planes_move_to_channels_and_to_depth_plane_by_plane) {
  // Two planes of two images with two channels: plane, image and channel as digits.
  const Tensor planes = f32({4, 2, 1, 1}, {0, 1, 10, 11, 100, 101, 110, 111});
  EXPECT_THAT(apply(graph::PlanesToChannels{2}, {planes}),
              near({0, 1, 100, 101, 10, 11, 110, 111}));
  EXPECT_THAT(apply(graph::PlanesToDepth{2}, {planes}), near({0, 100, 1, 101, 10, 110, 11, 111}));
}

TEST(ReferenceValues, segmentation_sums_count_what_their_names_say) {
  // Two pixels: a tie between classes 0 and 1 labelled 1, and a certain 2 labelled 2.
  const Tensor logits = f32({1, 3, 1, 2}, {0, -800, 0, -800, -800, 0});
  const Tensor labels = u8({1, 1, 1, 2}, {1, 2});
  const Tensor weights = f32({1, 3}, {1, 6, 10});
  EXPECT_THAT(apply(graph::SegmentationSums{graph::Focal::no}, {logits, labels, weights}),
              near({6 * std::log(2), 16, 1, 2, 1, 0, 1, 1, 1}));
  EXPECT_THAT(apply(graph::SegmentationSums{graph::Focal::yes}, {logits, labels, weights}),
              near({0.5 * std::log(2), 0.5, 1, 2, 1, 0, 1, 1, 1}));
}

TEST(ReferenceValues, focal_weights_multiply_the_gradient_but_are_not_differentiated) {
  const std::vector<double> dsums{2, 9, 9, 9, 9, 9, 9, 9, 9};
  EXPECT_THAT(apply(graph::SegmentationSumsGradient{graph::Focal::yes},
                    {f32({1, 2, 1, 1}, {0, 0}), u8({1, 1, 1, 1}, {1}), f32({1, 2}, {1, 6}),
                     f32({1, graph::kPixelSums}, dsums)}),
              near({2 * 0.5 * 0.5, 2 * 0.5 * -0.5}));
}

TEST(ReferenceValues, weighted_mean_leaves_out_a_group_without_weight) {
  const Tensor sums = f32({2, graph::kPixelSums}, {5, 0, 1, 1, 1, 1, 1, 1, 1,  //
                                                   6, 4, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_THAT(apply(graph::WeightedMean{2}, {sums}), near({1.5}));
  EXPECT_THAT(apply(graph::WeightedMeanGradient{2}, {sums, f32({}, {3})}),
              near({0, 0, 0, 0, 0, 0, 0, 0, 0, 0.75, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ReferenceValues, even_class_weights_fall_with_the_count_of_their_group) {
  EXPECT_THAT(apply(graph::EvenClassWeights{2, 3}, {u8({2, 1, 1, 2}, {0, 0, 1, 2})}),
              near({0.1111, 0.3333, 0.3333, 0.3333, 0.16665, 0.16665}));
}

TEST(ReferenceValues, first_adam_step_moves_by_the_rate_whatever_the_gradient) {
  const double g = 0.02;
  EXPECT_THAT(apply(graph::AdamStep{0.9, 0.999, 0, 0.5},
                    {f32({1}, {3}), f32({1}, {0.1 * g}), f32({1}, {0.001 * g * g}), f32({}, {0.1}),
                     Tensor{{DType::i64, {}}, {1}}}),
              near({3 * (1 - 0.1 * 0.5) - 0.1}));
}

TEST(ReferenceValues, rmsprop_divides_by_the_root_of_the_mean_square) {
  EXPECT_THAT(
      apply(graph::RmspropStep{1}, {f32({1}, {3}), f32({1}, {8}), f32({1}, {9}), f32({}, {0.5})}),
      near({2}));
}

TEST(ReferenceTarget, keeps_more_of_a_state_between_runs_than_its_dtype_holds) {
  graph::Builder builder;
  const graph::ValueId state = builder.parameter("p", {}, graph::Initializer::constant(0));
  const graph::ValueId small = builder.fill({DType::f32, {}}, 0x1p-25);
  builder.update(state, builder.add(graph::Add{}, {state, small}));
  compile::Plan plan;
  plan.graph = builder.take();
  const std::unique_ptr<Target> target = make_reference_target();
  const std::shared_ptr<StateBank> bank = target->make_bank({{"p", {DType::f32, {}}}});
  float value = 1;
  bank->write("p", std::as_bytes(std::span(&value, 1)));
  const auto executable = target->compile(plan, bank, {});
  for (int run = 0; run < 4; ++run) {
    executable->run({}, {});
  }
  bank->read("p", std::as_writable_bytes(std::span(&value, 1)));
  EXPECT_EQ(value, 1 + 0x1p-23f);
}

}  // namespace
}  // namespace cosmic::target::reference
