// Every mistake a user can make with a network says what is wrong, why, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.hpp"
#include "model/fashion_mnist.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"

namespace cosmic::model {
namespace {

using graph::DType;
using graph::Shape;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

template <class... Texts>
auto refuses(const Texts&... texts) {
  return ThrowsMessage<UserError>(AllOf(HasSubstr(texts)...));
}

/// A function that makes an a21 after one change.
template <class Change>
auto making(Change change) {
  return [change] {
    UResNetOptions options = preset("a21");
    change(options);
    const UResNet network(options);
  };
}

template <class NetworkType>
auto building(NetworkType network, Shape image) {
  return [network, image] {
    graph::Builder g;
    network.logits(g, g.input("image", {DType::f32, image}), Phase::training);
  };
}

TEST(ModelErrors, an_unknown_choice_names_key_value_choices_and_the_nearest) {
  EXPECT_THAT([] { parse_enum<Connections>("summ"); },
              refuses("connections = 'summ'", "sum, concat, none", "did you mean 'sum'?"));
  EXPECT_THAT([] { parse_enum<ConvMode>("3D"); },
              refuses("conv_mode = '3D'", "conv_2D, conv_3D", "did you mean 'conv_3D'?"));
  EXPECT_THAT([] { parse_enum<Upsampling>(""); }, refuses("upsampling = ''", "interpolation"));
  EXPECT_THAT([] { parse_enum<Normalization>("BATCH"); }, refuses("did you mean 'batch'?"));
  EXPECT_THAT([] { parse_enum<BalanceScheme>("focus"); },
              refuses("loss_balance_scheme = 'focus'", "none, light, focal, even",
                      "did you mean 'focal'?"));
}

TEST(ModelErrors, class_weights_beside_a_scheme_that_makes_its_own_are_refused) {
  EXPECT_THAT(
      [] {
        SegmentationLoss(BalanceScheme::even, {0.5, 1, 2});
      },
      refuses("loss_balance_scheme = even", "0.5, 1 and 2", "none, light or focal"));
}

TEST(ModelErrors, an_unknown_preset_lists_the_presets) {
  EXPECT_THAT(
      [] { preset("a22"); },
      refuses("network = 'a22'", "uresnet, a21, scc21, polaris, uresnet3d", "did you mean 'a21'?"));
}

TEST(ModelErrors, counts_that_leave_nothing_to_compute_are_refused) {
  EXPECT_THAT(making([](auto& o) { o.n_initial_filters = 0; }),
              refuses("n_initial_filters = 0", "no output", "use 1 or more"));
  EXPECT_THAT(making([](auto& o) { o.n_initial_filters = -4; }), refuses("n_initial_filters = -4"));
  EXPECT_THAT(making([](auto& o) { o.bottleneck_deepest = 0; }),
              refuses("bottleneck_deepest = 0", "use 1 or more"));
  EXPECT_THAT(making([](auto& o) { o.depth = 0; }), refuses("depth = 0", "use 1 or more"));
  EXPECT_THAT(making([](auto& o) { o.filter_size_deepest = 0; }),
              refuses("filter_size_deepest = 0", "use 1 or more"));
}

TEST(ModelErrors, negative_numbers_of_blocks_are_refused) {
  EXPECT_THAT(making([](auto& o) { o.blocks_per_layer = -1; }),
              refuses("blocks_per_layer = -1", "use 0 or more"));
  EXPECT_THAT(making([](auto& o) { o.blocks_deepest_layer = -2; }),
              refuses("blocks_deepest_layer = -2"));
  EXPECT_THAT(making([](auto& o) { o.blocks_final = -3; }), refuses("blocks_final = -3"));
}

TEST(ModelErrors, an_even_kernel_names_its_odd_neighbours) {
  EXPECT_THAT(making([](auto& o) { o.filter_size_deepest = 4; }),
              refuses("filter_size_deepest = 4", "change size", "use 3 or 5"));
}

TEST(ModelErrors, layer_normalisation_is_refused_with_the_reason_of_each_mode) {
  EXPECT_THAT(making([](auto& o) { o.normalization = Normalization::layer; }),
              refuses("normalization = layer", "conv_mode = conv_2D", "refuses it in 2D",
                      "use normalization = batch or none"));
  EXPECT_THAT(making([](auto& o) {
                o.normalization = Normalization::layer;
                o.conv_mode = ConvMode::conv_3D;
              }),
              refuses("conv_mode = conv_3D", "one image width"));
}

TEST(ModelErrors, a_depth_beyond_any_image_is_refused) {
  EXPECT_THAT(making([](auto& o) { o.depth = 31; }), refuses("depth = 31", "2^31"));
}

TEST(ModelErrors, networks_beyond_any_memory_are_refused_without_overflow) {
  EXPECT_THAT(making([](auto& o) {
                o.growth_rate = GrowthRate::multiplicative;
                o.depth = 30;
              }),
              refuses("depth = 30", "growth_rate = multiplicative", "parameters", "reduce"));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(making([](auto& o) { o.n_initial_filters = kMost; }), refuses("parameters"));
  EXPECT_THAT(making([](auto& o) { o.filter_size_deepest = kMost; }), refuses("parameters"));
  EXPECT_THAT(making([](auto& o) { o.blocks_final = kMost; }), refuses("blocks_final", "1024"));
}

TEST(ModelErrors, an_image_that_does_not_halve_says_which_sizes_and_depths_would_do) {
  const UResNet network(preset("a21"));
  EXPECT_THAT(building(network, {1, 3, 1280, 2000}),
              refuses("1280 x 2000", "depth = 6", "2^depth = 64",
                      "use an image of 1280 x 1984 or 1280 x 2048", "or depth <= 4"));
}

TEST(ModelErrors, an_image_of_odd_size_is_not_offered_a_depth) {
  const UResNet network(preset("a21"));
  EXPECT_THAT(building(network, {1, 3, 1280, 101}),
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("1280 x 64 or 1280 x 128"), Not(HasSubstr("depth <=")))));
}

TEST(ModelErrors, an_image_smaller_than_the_u_is_offered_larger_sizes_only) {
  const UResNet network(preset("a21"));
  EXPECT_THAT(building(network, {1, 3, 32, 32}), refuses("use an image of 64 x 64, or depth <= 5"));
}

TEST(ModelErrors, an_image_without_pixels_is_refused) {
  EXPECT_THAT([] { validate(preset("a21"), 0, 64); }, refuses("0 x 64", "no pixels"));
}

TEST(ModelErrors, an_image_without_three_planes_is_refused) {
  const UResNet network(preset("a21"));
  EXPECT_THAT(building(network, {1, 64, 64, 3}),
              ThrowsMessage<ShapeError>(
                  AllOf(HasSubstr("1x64x64x3"), HasSubstr("3 planes"), HasSubstr("axes"))));
}

TEST(ModelErrors, batch_norm_of_single_values_names_the_layer) {
  const UResNet network(preset("a21"));
  EXPECT_THAT(
      building(network, {1, 3, 64, 64}),
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("downsample.bottleneck.norm"),
                                      HasSubstr("no variance"), HasSubstr("larger batch"))));
}

TEST(ModelErrors, the_fashion_mnist_network_takes_its_own_image_size_only) {
  EXPECT_THAT(building(FashionMnist(), {4, 1, 32, 32}),
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("4x1x32x32"), HasSubstr("28 x 28"))));
}

TEST(ModelErrors, series_that_would_take_for_ever_to_compile_are_refused) {
  UResNetOptions options = preset("a21");
  options.n_initial_filters = 1;  // so that memory is no reason
  options.blocks_final = 100'000'000;
  EXPECT_THAT([&] { validate(options); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("blocks_final = 100000000"), HasSubstr("at most 1024"))));
}

TEST(ModelErrors, an_image_side_beyond_any_detector_is_refused) {
  EXPECT_THAT([] { validate(preset("a21"), std::int64_t{1} << 62, 64); },
              ThrowsMessage<UserError>(HasSubstr("4611686018427387904 x 64")));
}

}  // namespace
}  // namespace cosmic::model
