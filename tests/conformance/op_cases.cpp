#include "conformance/op_cases.hpp"

#include <limits>
#include <ostream>

#include "conformance/case_list.hpp"

namespace cosmic::conformance {
namespace {

using namespace graph;

/// "2x3x5x16" as it may stand in a test's name.
std::string text(const Shape& shape) {
  return graph::to_string(shape);
}

TensorType f32_type(Shape shape) {
  return {DType::f32, std::move(shape)};
}

/// Feature maps around every block of channels and vector of columns, in two and three dimensions,
/// with batches that split into three groups, batches of one, and batches that fill vectors.
const std::vector<Shape> kFeatureMaps{
    {1, 1, 1, 1},     {1, 3, 2, 5}, {3, 8, 5, 16}, {6, 11, 2, 33},  {3, 16, 3, 1},
    {3, 24, 2, 7},    {3, 5},       {2, 10},       {1, 3, 3, 2, 5}, {3, 8, 2, 3, 16},
    {6, 5, 2, 1, 33}, {8, 3, 5, 7}, {16, 1, 3, 4}, {24, 5, 2, 3}};

std::int64_t groups_of(const Shape& shape) {
  return shape[0] % 3 == 0 ? 3 : 1;
}

void add_boundary(CaseList& list) {
  {
    Builder b;
    const ValueId x = b.input("x", f32_type({2, 3, 4, 5}));
    b.output("y", x);
    list.add("handed_back", b.take(), x, {spread({2, 3, 4, 5})});
  }
  {
    Builder b;
    const ValueId p = b.parameter("p", {2, 3, 4, 5}, Initializer::constant(0));
    b.output("y", b.add(Scale{2}, {p}));
    list.add("read", b.take(), p, {}, {spread({2, 3, 4, 5})});
  }
  {
    Builder b;
    const ValueId p = b.parameter("p", {5}, Initializer::constant(0));
    const ValueId q = b.parameter("q", {5}, Initializer::constant(0));
    b.update(p, b.add(Scale{2}, {q}));
    b.update(q, b.add(Scale{3}, {p}));
    list.add("exchanged_with_another_state_at_the_same_time", b.take(), p, {},
             {spread({5}), spread({5})});
  }
  {
    Builder b;
    const ValueId direction = b.input("direction", f32_type({3, 7}));
    const ValueId p = b.parameter("p", {3, 7}, Initializer::constant(0));
    const ValueId next = b.add(SgdStep{}, {p, direction, b.fill(f32_type({}), 0.1)});
    b.output("before", b.add(Scale{1}, {p}));
    b.output("after", next);
    b.update(p, next);
    list.add("of_a_state_that_is_read_after_its_update", b.take(), next, {spread({3, 7})},
             {spread({3, 7})});
  }
  {
    Builder b;
    const ValueId steps =
        b.state("steps", {DType::i64, {}}, StateKind::optimizer, Initializer::constant(0));
    const ValueId next = b.add(Increment{3}, {steps});
    b.output("y", next);
    b.update(steps, next);
    list.add("of_a_state", b.take(), next, {}, {counter(4)});
  }
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 5, 33}}) {
    list.add(Fill{f32_type(shape), 0.75}, text(shape), {});
  }
  list.add(Fill{{DType::i64, {3}}, 7}, "of_integers", {});
}

void add_pointwise(CaseList& list) {
  for (const Shape& shape : kFeatureMaps) {
    const std::string of = text(shape);
    const Shape channels{shape[1]};
    list.add(Add{}, of, {spread(shape), spread(shape)});
    list.add(Scale{-1.75}, of, {spread(shape)});
    list.add(LeakyRelu{0.01}, of, {off_zero(shape)});
    list.add(LeakyReluGradient{0.01}, of, {off_zero(shape), spread(shape)});
    list.add(ChannelBias{}, of, {spread(shape), spread(channels)});
    list.add(ChannelSum{}, of, {spread(shape)});
  }
  list.add(Add{}, "of_scalars", {spread({}), spread({})});
  list.add(Scale{3}, "of_a_vector", {spread({33})});
  list.add(LeakyRelu{0}, "without_slope", {off_zero({2, 5, 3, 7})});
  list.add(LeakyRelu{0.2}, "at_zero", {tied({2, 5, 3, 7})}).no_finite_differences =
      "zero is a kink";
  list.add(LeakyReluGradient{0.2}, "at_zero", {tied({2, 5, 3, 7}), spread({2, 5, 3, 7})});
  // The same value twice: both adjoints belong to one input.
  Builder b;
  const ValueId x = b.input("x", f32_type({2, 8, 3, 5}));
  const ValueId y = b.add(Add{}, {x, x});
  b.output("y", y);
  list.add("of_a_value_and_itself", b.take(), y, {spread({2, 8, 3, 5})});
}

void add_conv(CaseList& list) {
  struct Case {
    std::string what;
    Shape image;
    Shape kernel;
    Window window;
  };
  const std::vector<Case> cases{
      {"one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {"1x1_11_to_5", {2, 11, 5, 16}, {5, 11, 1, 1}, {}},
      {"1x1_24_to_8", {1, 24, 3, 33}, {8, 24, 1, 1}, {}},
      {"2x2_stride_2", {2, 8, 6, 16}, {16, 8, 2, 2}, {{1, 2, 2}, {}}},
      {"2x2_stride_2_odd", {1, 3, 7, 33}, {5, 3, 2, 2}, {{1, 2, 2}, {}}},
      {"3x3_3_to_8", {1, 3, 5, 33}, {8, 3, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_8_to_16", {3, 8, 4, 16}, {16, 8, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_16_to_24", {1, 16, 5, 5}, {24, 16, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_16_to_19_wide", {2, 16, 6, 34}, {19, 16, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_27_to_16_wide", {1, 27, 2, 64}, {16, 27, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_one_column", {2, 16, 6, 1}, {11, 16, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_unpadded", {1, 5, 6, 9}, {8, 5, 3, 3}, {}},
      {"3x3_stride_2", {1, 16, 9, 16}, {11, 16, 3, 3}, {{1, 2, 2}, {0, 1, 1}}},
      {"3x3_batch_of_8", {8, 1, 6, 9}, {5, 1, 3, 3}, {}},
      {"3x3_batch_of_24_padded", {24, 3, 4, 5}, {7, 3, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"3x3_batch_of_8_stride_2", {8, 2, 6, 9}, {13, 2, 3, 3}, {{1, 2, 2}, {0, 1, 1}}},
      {"5x5_batch_of_16", {16, 5, 7, 7}, {12, 5, 5, 5}, {}},
      {"5x5_batch_of_8_wider_than_the_image", {8, 2, 2, 1}, {3, 2, 5, 5}, {{1, 1, 1}, {0, 2, 2}}},
      {"2x7_batch_of_8_padded", {8, 1, 4, 8}, {2, 1, 2, 7}, {{1, 1, 1}, {0, 0, 3}}},
      {"5x5_1_to_16", {2, 1, 6, 33}, {16, 1, 5, 5}, {{1, 1, 1}, {0, 2, 2}}},
      {"5x5_8_to_8", {1, 8, 5, 16}, {8, 8, 5, 5}, {{1, 1, 1}, {0, 2, 2}}},
      {"5x5_wider_than_the_image", {1, 5, 2, 1}, {3, 5, 5, 5}, {{1, 1, 1}, {0, 2, 2}}},
      {"1x3_uneven_strides", {2, 5, 4, 16}, {3, 5, 1, 3}, {{1, 1, 2}, {0, 0, 1}}},
      {"5x2_uneven_strides", {1, 3, 9, 5}, {8, 3, 5, 2}, {{1, 3, 1}, {0, 1, 0}}},
      {"2d_depth_ignored", {1, 3, 5, 5}, {3, 3, 3, 3}, {{3, 1, 1}, {2, 1, 1}}},
      {"1x3x3", {2, 8, 3, 4, 16}, {8, 8, 1, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"1x3x3_wide", {1, 16, 3, 4, 32}, {16, 16, 1, 3, 3}, {{1, 1, 1}, {0, 1, 1}}},
      {"1x2x2_stride_2", {1, 8, 3, 4, 9}, {16, 8, 1, 2, 2}, {{1, 2, 2}, {}}},
      {"3x3x3", {1, 3, 3, 4, 5}, {11, 3, 3, 3, 3}, {{1, 1, 1}, {1, 1, 1}}},
      {"3x3x3_stride_2", {2, 5, 4, 5, 6}, {3, 5, 3, 3, 3}, {{2, 2, 2}, {1, 1, 1}}},
      {"3x1x1_over_all_planes", {1, 16, 3, 2, 5}, {8, 16, 3, 1, 1}, {}},
      {"5x5x5", {1, 1, 3, 5, 6}, {3, 1, 5, 5, 5}, {{1, 1, 1}, {2, 2, 2}}},
  };
  for (const Case& c : cases) {
    const Shape y =
        Conv::infer({c.window}, std::vector<TensorType>{f32_type(c.image), f32_type(c.kernel)})
            .shape;
    const Operand image = spread(c.image);
    const Operand kernel = spread(c.kernel);
    const Conv conv{c.window};
    list.add(conv, c.what, {image, kernel});
    list.add(conv, c.what + "_bias", {image, kernel, spread({c.kernel[0]})});
    list.add(conv, c.what + "_bias_addend", {image, kernel, spread({c.kernel[0]}), spread(y)});
    const ConvTranspose transpose{c.window, Shape(c.image.begin() + 2, c.image.end())};
    list.add(transpose, c.what, {spread(y), kernel});
    list.add(transpose, c.what + "_bias", {spread(y), kernel, spread({c.kernel[1]})});
    list.add(transpose, c.what + "_bias_addend",
             {spread(y), kernel, spread({c.kernel[1]}), spread(c.image)});
    list.add(ConvKernelGradient{c.window, Shape(c.kernel.begin() + 2, c.kernel.end())}, c.what,
             {image, spread(y)});
  }
  for (const std::int64_t batch : {1, 16}) {  // what comes right after may be computed on the way
    Builder b;
    const ValueId image = b.input("image", f32_type({batch, 3, 6, 7}));
    const ValueId kernel = b.input("kernel", f32_type({8, 3, 3, 3}));
    const ValueId bias = b.input("bias", f32_type({8}));
    const ValueId y = b.add(Conv{}, {image, kernel, bias});
    const ValueId activated = b.add(LeakyRelu{0.1}, {y});
    b.output("y", y);
    b.output("activated", activated);
    list.add("and_an_activation_batch_of_" + std::to_string(batch), b.take(), y,
             {spread({batch, 3, 6, 7}), spread({8, 3, 3, 3}), spread({8})});
  }
  for (const std::int64_t columns : {7, 40}) {  // or when it is written, if nobody reads it before
    const Shape x{2, 11, 6, columns};
    Builder b;
    const ValueId image = b.input("image", f32_type(x));
    const ValueId kernel = b.input("kernel", f32_type({11, 11, 3, 3}));
    const ValueId bias = b.input("bias", f32_type({11}));
    const ValueId y = b.add(Conv{{{1, 1, 1}, {0, 1, 1}}}, {image, kernel, bias, image});
    b.output("activated", b.add(LeakyRelu{0.1}, {y}));
    list.add("whose_sum_is_activated_" + std::to_string(columns) + "_columns", b.take(), y,
             {spread(x), spread({11, 11, 3, 3}), spread({11})});
  }
  list.add(ScaleFilters{0}, "first_axis", {spread({11, 3, 3, 3}), spread({2, 1, 11})});
  list.add(ScaleFilters{1}, "second_axis", {spread({8, 5, 2, 2}), spread({2, 1, 5})});
  list.add(ScaleFilters{0}, "three_dimensions", {spread({16, 8, 3, 1, 1}), spread({2, 1, 16})});
}

void add_normalization(CaseList& list) {
  const auto add_statistics = [&](const std::string& what, const Operand& x, std::int64_t groups,
                                  std::int64_t pooled) {
    const Shape per_channel{2, groups, x.type.dim(1)};
    list.add(Statistics{groups, pooled}, what, {x});
    list.add(StatisticsGradient{groups, pooled}, what,
             {x, spread(per_channel), spread(per_channel)});
  };
  for (const Shape& shape : kFeatureMaps) {
    add_statistics(text(shape), spread(shape), groups_of(shape), 1);
  }
  add_statistics("one_group_of_a_batch", spread({3, 8, 4, 5}), 1, 1);
  add_statistics("pooled_over_4_channels", spread({2, 16, 3, 5}), 2, 4);
  add_statistics("pooled_over_all_channels", spread({2, 11, 3, 5}), 2, 11);
  add_statistics("of_each_image_of_a_batch", spread({16, 12, 3, 4}), 16, 4);
  add_statistics("of_all_images_of_a_batch", spread({16, 3, 4, 5}), 1, 1);
  add_statistics("pooled_in_three_dimensions", spread({3, 6, 2, 3, 5}), 3, 3);
  add_statistics("far_from_zero", f32({2, 3, 16, 33}, 9, 11), 1, 1);

  for (const auto& [groups, channels] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 3}, {3, 5}, {3, 8}, {2, 11}, {3, 24}}) {
    const Shape shape{2, groups, channels};
    const std::string of = text(shape);
    for (const auto as : {SecondMoment::mean_square, SecondMoment::variance}) {
      list.add(RestateStatistics{as}, "as_" + to_string(as) + "_" + of, {positive(shape)});
    }
    list.add(NormCoefficients{1e-5}, of, {positive(shape), spread({channels}), spread({channels})});
    for (const auto part :
         {NormCoefficientsGradient::Of::statistics, NormCoefficientsGradient::Of::weight,
          NormCoefficientsGradient::Of::bias}) {
      list.add(NormCoefficientsGradient{part, 1e-5}, "of_" + to_string(part) + "_" + of,
               {positive(shape), spread({channels}), spread(shape)});
    }
    for (const auto part : {RunningUpdate::Of::mean, RunningUpdate::Of::variance}) {
      list.add(RunningUpdate{part, 0.1, 50}, "of_" + to_string(part) + "_" + of,
               {positive({channels}), positive(shape)});
    }
  }
  list.add(RestateStatistics{SecondMoment::variance}, "of_which_rounding_leaves_nothing",
           {constant(f32_type({2, 1, 5}), 0.75)});
  list.add(NormCoefficients{0.5}, "large_epsilon", {positive({2, 1, 5}), spread({5}), spread({5})});
  list.add(RunningUpdate{RunningUpdate::Of::variance, 0.25, 1}, "of_one_element",
           {positive({5}), positive({2, 3, 5})});
  list.add(RunningUpdate{RunningUpdate::Of::variance, 0.25, 2}, "of_two_elements",
           {positive({5}), positive({2, 3, 5})});

  for (const Shape& shape : kFeatureMaps) {
    const std::int64_t groups = groups_of(shape);
    const Operand coefficients = spread({2, groups, shape[1]});
    list.add(ChannelAffine{}, text(shape), {spread(shape), coefficients});
    list.add(ChannelScale{}, text(shape), {spread(shape), coefficients});
    list.add(ChannelProducts{groups}, text(shape), {spread(shape), spread(shape)});
  }
  const Shape batch{16, 6, 3, 4};
  const Operand of_each_image = spread({2, 16, 6});
  list.add(ChannelAffine{}, "of_each_image_of_a_batch", {spread(batch), of_each_image});
  list.add(ChannelScale{}, "of_each_image_of_a_batch", {spread(batch), of_each_image});
  list.add(ChannelProducts{16}, "of_each_image_of_a_batch", {spread(batch), spread(batch)});
  for (const Shape& shape : {Shape{}, Shape{3}}) {
    list.add(Increment{1}, text(shape), {counter(41, shape)}).tolerance = 0;
  }

  // The whole normalisation: three ops whose gradients meet in x.
  Builder b;
  const ValueId x = b.input("x", f32_type({6, 5, 3, 4}));
  const ValueId weight = b.input("weight", f32_type({5}));
  const ValueId bias = b.input("bias", f32_type({5}));
  const ValueId statistics = b.add(Statistics{3, 1}, {x});
  const ValueId coefficients = b.add(NormCoefficients{}, {statistics, weight, bias});
  const ValueId y = b.add(ChannelAffine{}, {x, coefficients});
  b.output("y", y);
  list.add("of_its_own_statistics", b.take(), y, {spread({6, 5, 3, 4}), spread({5}), spread({5})});
}

void add_arrangement(CaseList& list) {
  for (const std::int64_t axis : {0, 1, 2, 3}) {
    const std::string along = "along_axis_" + std::to_string(axis);
    const auto shape = [&](std::int64_t extent) {
      Shape s{2, 3, 4, 5};
      s[static_cast<std::size_t>(axis)] = extent;
      return s;
    };
    list.add(Concat{axis}, along, {spread(shape(3)), spread(shape(5))});
    list.add(Concat{axis}, "of_one_" + along, {spread(shape(8))});
    list.add(Concat{axis}, "of_three_" + along,
             {spread(shape(11)), spread(shape(1)), spread(shape(16))});
    list.add(Slice{axis, 0, 3}, "at_the_begin_" + along, {spread(shape(11))});
    list.add(Slice{axis, 3, 8}, "in_the_middle_" + along, {spread(shape(11))});
    list.add(Slice{axis, 8, 24}, "at_the_end_" + along, {spread(shape(24))});
    list.add(Embed{axis, 0, 11}, "at_the_begin_" + along, {spread(shape(3))});
    list.add(Embed{axis, 3, 11}, "in_the_middle_" + along, {spread(shape(5))});
    list.add(Embed{axis, 8, 24}, "at_the_end_" + along, {spread(shape(16))});
  }
  list.add(Concat{1}, "of_whole_blocks",
           {spread({2, 16, 3, 5}), spread({2, 8, 3, 5}), spread({2, 24, 3, 5})});
  list.add(Concat{1}, "in_three_dimensions", {spread({1, 5, 3, 2, 7}), spread({1, 8, 3, 2, 7})});
  list.add(Concat{2}, "of_planes", {spread({1, 5, 1, 2, 7}), spread({1, 5, 2, 2, 7})});
  list.add(Slice{1, 8, 24}, "of_whole_blocks", {spread({2, 32, 3, 5})});
  list.add(Slice{2, 1, 2}, "of_planes", {spread({2, 5, 3, 2, 7})});
  list.add(Embed{1, 16, 24}, "of_whole_blocks", {spread({2, 8, 3, 5})});
  list.add(Embed{2, 1, 3}, "of_planes", {spread({2, 5, 1, 2, 7})});

  const auto add_reshape = [&](const Shape& from, const Shape& to) {
    list.add(Reshape{to}, text(from) + "_to_" + text(to), {spread(from)});
  };
  add_reshape({2, 3, 4, 5}, {2, 60});
  add_reshape({2, 60}, {2, 3, 4, 5});
  add_reshape({3, 8, 5, 16}, {1, 3, 8, 5, 16});
  add_reshape({11}, {11, 1, 1, 1});
  add_reshape({1, 1}, {});

  for (const std::int64_t planes : {1, 2, 3}) {
    const std::string of = "of_" + std::to_string(planes) + "_planes_";
    for (const std::int64_t channels : {1, 5, 8, 11}) {
      for (const std::int64_t batch : {1, 2}) {
        const std::string extents = of + text({batch, channels});
        list.add(PlanesToChannels{planes}, extents, {spread({planes * batch, channels, 2, 5})});
        list.add(ChannelsToPlanes{planes}, extents, {spread({batch, planes * channels, 2, 5})});
        list.add(PlanesToDepth{planes}, extents, {spread({planes * batch, channels, 2, 5})});
        list.add(DepthToPlanes{}, extents, {spread({batch, channels, planes, 2, 5})});
      }
    }
  }
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{1, 16, 2, 33}}) {
    list.add(Reorder{Layout::plain}, "to_plain_" + text(shape), {spread(shape)});
    list.add(Copy{}, "of_" + text(shape), {spread(shape)});
  }
}

void add_resample(CaseList& list) {
  const auto add_pool = [&](const std::string& what, const Shape& shape, const Factors& window) {
    const Operand dy =
        spread(MaxPool::infer({window}, std::vector<TensorType>{f32_type(shape)}).shape);
    list.add(MaxPool{window}, what, {spread(shape)});
    list.add(MaxPoolGradient{window}, what, {spread(shape), dy});
    list.add(MaxPool{window}, what + "_with_ties", {tied(shape)}).no_finite_differences =
        "ties have no derivative";
    list.add(MaxPoolGradient{window}, what + "_with_ties", {tied(shape), dy});
  };
  add_pool("2x2", {3, 8, 4, 16}, {1, 2, 2});
  add_pool("2x2_to_one_pixel", {1, 1, 2, 2}, {1, 2, 2});
  add_pool("2x2_odd_rows_and_columns", {2, 3, 5, 33}, {1, 2, 2});
  add_pool("2x2_11_channels", {1, 11, 6, 5}, {1, 2, 2});
  add_pool("2x2_24_channels", {1, 24, 7, 10}, {1, 2, 2});
  add_pool("2x2_batch_of_16", {16, 3, 4, 6}, {1, 2, 2});
  add_pool("3x2_batch_of_8_odd_rows_and_columns", {8, 2, 7, 5}, {1, 3, 2});
  add_pool("1x1", {1, 5, 3, 4}, {1, 1, 1});
  add_pool("3x1", {1, 5, 7, 5}, {1, 3, 1});
  add_pool("5x2", {1, 16, 10, 5}, {1, 5, 2});
  add_pool("2d_depth_ignored", {1, 3, 4, 4}, {2, 2, 2});
  add_pool("1x2x2", {1, 8, 3, 4, 5}, {1, 2, 2});
  add_pool("2x2x2", {2, 3, 5, 4, 16}, {2, 2, 2});

  const auto add_upsample = [&](const std::string& what, const Shape& shape,
                                Interpolation interpolation, const Factors& factor) {
    const Operand dy = spread(
        Upsample::infer({interpolation, factor}, std::vector<TensorType>{f32_type(shape)}).shape);
    const std::string full = to_string(interpolation) + "_" + what;
    list.add(Upsample{interpolation, factor}, full, {spread(shape)});
    list.add(UpsampleGradient{interpolation, factor}, full, {dy});
  };
  for (const Shape& shape :
       {Shape{1, 1, 1, 1}, Shape{2, 3, 1, 5}, Shape{3, 8, 5, 16}, Shape{1, 11, 3, 33},
        Shape{2, 24, 2, 1}, Shape{1, 5, 3, 4, 5}, Shape{2, 16, 1, 2, 2}}) {
    add_upsample(text(shape), shape, Interpolation::bilinear, {1, 2, 2});
    add_upsample(text(shape), shape, Interpolation::nearest, {1, 2, 2});
  }
  add_upsample("by_3x1", {1, 5, 2, 7}, Interpolation::nearest, {1, 3, 1});
  add_upsample("by_2x2x2", {1, 3, 2, 2, 5}, Interpolation::nearest, {2, 2, 2});
  add_upsample("2d_depth_ignored", {1, 3, 2, 5}, Interpolation::nearest, {2, 2, 2});
}

void add_linear(CaseList& list) {
  struct Extents {
    std::int64_t rows;
    std::int64_t inner;
    std::int64_t columns;
  };
  for (const Extents& e :
       {Extents{1, 1, 1}, {3, 5, 8}, {11, 16, 33}, {2, 24, 10}, {17, 35, 53}, {50, 18, 40}}) {
    for (const Transposed a : {Transposed::no, Transposed::yes}) {
      for (const Transposed b : {Transposed::no, Transposed::yes}) {
        const std::string what =
            text({e.rows, e.inner, e.columns}) + "_transposed_" + to_string(a) + "_" + to_string(b);
        list.add(
            MatMul{a, b}, what,
            {spread(a == Transposed::no ? Shape{e.rows, e.inner} : Shape{e.inner, e.rows}),
             spread(b == Transposed::no ? Shape{e.inner, e.columns} : Shape{e.columns, e.inner})});
      }
    }
  }
  for (const SoftmaxKind kind : {SoftmaxKind::probability, SoftmaxKind::logarithm}) {
    const auto add_softmax = [&](const std::string& what, const Shape& shape, std::int64_t axis) {
      const std::string full = to_string(kind) + "_" + what;
      list.add(Softmax{axis, kind}, full, {f32(shape, -3, 3)});
      list.add(SoftmaxGradient{axis, kind}, full, {spread(shape), spread(shape)});
    };
    for (const std::int64_t axis : {0, 1, 2, 3}) {
      add_softmax("along_axis_" + std::to_string(axis), {3, 5, 4, 7}, axis);
    }
    add_softmax("of_images", {2, 3, 5, 33}, 1);
    add_softmax("of_volumes", {1, 3, 3, 4, 5}, 1);
    add_softmax("of_a_classifier", {4, 10}, 1);
    add_softmax("of_one_class", {4, 1}, 1);
    list.add(Softmax{1, kind}, to_string(kind) + "_of_large_numbers", {f32({4, 5}, -200, 200)});
  }
}

void add_loss(CaseList& list) {
  const auto with_channels = [](Shape shape, std::int64_t channels) {
    shape[1] = channels;
    return shape;
  };
  const std::vector<Shape> label_shapes{
      {1, 1, 1, 1}, {3, 1, 5, 16}, {6, 1, 3, 33}, {2, 1, 4, 1}, {2, 1, 3, 4, 5}};
  for (const Shape& shape : label_shapes) {
    const std::int64_t groups = groups_of(shape);
    const std::string of = text(shape);
    // The weights are small numbers; nothing but their relative error matters.
    list.add(EvenClassWeights{groups, 3}, of, {labels(shape, 3)}).tolerance = 1e-8;
    for (const Focal focal : {Focal::no, Focal::yes}) {
      const std::string what = "focal_" + to_string(focal) + "_" + of;
      const Operand logits = f32(with_channels(shape, 3), -3, 3);
      const Operand weights = positive({groups, 3});
      OpCase& sums = list.add(SegmentationSums{focal}, what, {logits, labels(shape, 3), weights});
      if (focal == Focal::yes) {
        sums.no_finite_differences = "focal weights depend on the logits but carry no gradient";
      }
      list.add(SegmentationSumsGradient{focal}, what,
               {logits, labels(shape, 3), weights, spread({shape[0], kPixelSums})});
    }
  }
  list.add(EvenClassWeights{1, 3}, "without_one_class", {labels({2, 1, 3, 5}, 2)}).tolerance = 1e-8;
  list.add(SegmentationSums{Focal::no}, "of_5_classes",
           {f32({2, 5, 3, 7}, -3, 3), labels({2, 1, 3, 7}, 5), positive({1, 5})});
  list.add(SegmentationSums{Focal::yes}, "with_ties",
           {tied({3, 3, 5, 16}), labels({3, 1, 5, 16}, 3), positive({3, 3})})
      .no_finite_differences = "the largest logit jumps";
  list.add(SegmentationSums{Focal::yes}, "of_large_logits",
           {f32({3, 3, 4, 5}, -100, 100), labels({3, 1, 4, 5}, 3), positive({3, 3})})
      .no_finite_differences = "focal weights depend on the logits but carry no gradient";
  list.add(FixedClassWeights{}, "equal", {});
  list.add(FixedClassWeights{1, 1.5, 10, 3, 3}, "light", {});
  list.add(FixedClassWeights{0.5, 1, 2, 2, 5}, "of_5_classes", {});

  for (const std::int64_t images : {3, 6}) {
    const std::string of = "of_" + std::to_string(images) + "_images";
    for (const auto& [what, sums] :
         {std::pair{of, positive({images, kPixelSums})},
          std::pair{of + "_one_empty", sums_with_an_empty_image(images)}}) {
      list.add(WeightedMean{3}, what, {sums}).no_finite_differences =
          "the weights in the sums carry no gradient";
      list.add(WeightedMeanGradient{3}, what, {sums, scalar(1.5)});
      list.add(SegmentationScores{3, 20}, what, {sums});
    }
  }
  list.add(WeightedMean{1}, "of_one_group", {positive({2, kPixelSums})}).no_finite_differences =
      "the weights in the sums carry no gradient";
  list.add(SegmentationScores{1, 20}, "of_one_plane", {positive({2, kPixelSums})});

  // With weights that do not depend on the logits the whole loss has the gradient it claims.
  Builder b;
  const ValueId logits = b.input("logits", f32_type({6, 3, 3, 5}));
  const ValueId labelled = b.input("labels", {DType::u8, {6, 1, 3, 5}});
  const ValueId weights = b.add(FixedClassWeights{1, 1.5, 10, 3, 3}, {});
  const ValueId sums = b.add(SegmentationSums{Focal::no}, {logits, labelled, weights});
  const ValueId loss = b.add(WeightedMean{3}, {sums});
  b.output("loss", loss);
  list.add("of_logits", b.take(), loss, {f32({6, 3, 3, 5}, -3, 3), labels({6, 1, 3, 5}, 3)});

  for (const auto& [images, classes] : {std::pair<std::int64_t, std::int64_t>{1, 3}, {5, 10}}) {
    const auto drawn = labels({images}, static_cast<std::uint64_t>(classes));
    const std::string of = text({images, classes});
    list.add(NegativeLogLikelihood{}, of, {spread({images, classes}), drawn});
    list.add(NegativeLogLikelihoodGradient{classes}, of, {drawn, scalar(1.5)});
  }
}

void add_optimizer(CaseList& list) {
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{16, 3, 3, 3}, Shape{33, 31}}) {
    const std::string of = text(shape);
    const Operand x = spread(shape);
    const Operand square = positive(shape);
    const Operand rate = scalar(0.01);
    list.add(Moment{0.9, 0.1, 1}, "of_power_1_" + of, {x, spread(shape)});
    list.add(Moment{0.999, 0.001, 2}, "of_power_2_" + of, {square, spread(shape)});
    list.add(AdamStep{}, "the_first_" + of, {x, spread(shape), square, rate, counter(1)});
    list.add(AdamStep{0.9, 0.999, 1e-6, 0.01}, "the_7th_with_decay_" + of,
             {x, spread(shape), square, rate, counter(7)});
    list.add(RmspropStep{}, of, {x, spread(shape), square, rate});
    list.add(SgdStep{}, of, {x, spread(shape), rate});
    const auto constants = [](std::int64_t count) { return f32({count}, 0.01, 0.5); };
    list.add(Moment{0.9, 0.1, 2}, "of_varying_decay_" + of, {x, spread(shape), constants(2)});
    list.add(AdamStep{}, "of_varying_constants_" + of,
             {x, spread(shape), square, rate, counter(7), constants(6)});
    list.add(RmspropStep{}, "of_varying_epsilon_" + of,
             {x, spread(shape), square, rate, constants(1)});
  }
  list.add(AdamStep{}, "the_100000th",
           {spread({33}), spread({33}), positive({33}), scalar(0.01), counter(100000)});
  list.add(AdamStep{}, "of_a_parameter_without_gradient",
           {spread({5}), zero({5}), zero({5}), scalar(0.01), counter(1)});
  list.add(RmspropStep{}, "of_a_parameter_without_gradient",
           {spread({5}), zero({5}), zero({5}), scalar(0.01)});
}

/// Of one process; tests/session/processes_test.cpp has several.
void add_exchange(CaseList& list) {
  list.add(AllReduce{}, "of_one_tensor", {spread({33, 31})}).tolerance = 0;
  list.add(AllReduce{0.25}, "of_several_tensors",
           {spread({33, 31}), spread({}), spread({16, 3, 3, 3})});
  list.add(AllReduce{1.0 / 3}, "of_as_many_as_it_takes",
           std::vector<Operand>(kMostExchanged, spread({5})));
  // Factors that leave a number between the same two of the format.
  for (const double factor : {1.0, 0.25}) {
    list.add(AllReduce{factor, NumberFormat::bf16},
             factor == 1 ? "as_bfloat16" : "as_a_quarter_in_bfloat16",
             {spread({33, 31}), spread({}), f32({7}, 1e3, 1e9)})
        .tolerance = 0;
  }
}

void add_loss_scale(CaseList& list) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto one_of_them_is = [](Shape shape, double lost) {
    return Operand{f32_type(std::move(shape)), [=](RandomStream& random, std::int64_t element) {
                     return element == 7 ? lost : random.uniform(-1, 1);
                   }};
  };
  list.add(AllFinite{}, "of_one_number", {scalar(3)}).tolerance = 0;
  list.add(AllFinite{}, "of_several_tensors", {spread({33, 31}), spread({}), spread({16, 3, 3, 3})})
      .tolerance = 0;
  list.add(AllFinite{}, "of_as_many_as_it_takes", std::vector<Operand>(kMostChecked, spread({5})))
      .tolerance = 0;
  for (const auto& [name, lost] :
       {std::pair("a_nan", kNan), {"infinity", kInfinity}, {"minus_infinity", -kInfinity}}) {
    list.add(AllFinite{}, std::string("with_") + name,
             {spread({5}), one_of_them_is({33, 31}, lost), spread({3})});
  }
  list.add(AllFinite{}, "with_a_lost_scalar_at_the_end", {spread({9}), scalar(kNan)});
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{16, 3, 3, 3}, Shape{33, 31}}) {
    list.add(Unscale{}, text(shape), {spread(shape), scalar(1024)});
    list.add(Unscale{}, "by_a_small_scale_" + text(shape), {spread(shape), scalar(0.125)});
  }
  const NextLossScale next{2, 0.5, 3};
  const GoodSteps count{3};
  for (const double before : {0.0, 1.0, 2.0, 7.0}) {
    const std::string after = "after_" + std::to_string(static_cast<int>(before)) + "_good_steps";
    list.add(next, after, {scalar(1024), counter(before), scalar(0)}).tolerance = 0;
    list.add(next, "of_a_lost_step_" + after, {scalar(1024), counter(before), scalar(kNan)})
        .tolerance = 0;
    list.add(count, after, {counter(before), scalar(0)}).tolerance = 0;
    list.add(count, "of_a_lost_step_" + after, {counter(before), scalar(kNan)}).tolerance = 0;
  }
  list.add(next, "that_would_be_infinite", {scalar(3e38), counter(2), scalar(0)}).tolerance = 0;
  list.add(next, "that_cannot_be_smaller", {scalar(kLeastLossScale), counter(0), scalar(kNan)})
      .tolerance = 0;
}

std::vector<OpCase> make_cases() {
  CaseList list;
  add_boundary(list);
  add_pointwise(list);
  add_conv(list);
  add_normalization(list);
  add_arrangement(list);
  add_resample(list);
  add_linear(list);
  add_loss_scale(list);
  add_exchange(list);
  add_loss(list);
  add_optimizer(list);
  return list.take();
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = make_cases();
  return cases;
}

std::ostream& operator<<(std::ostream& out, const OpCase& op_case) {
  return out << op_case.name;
}

}  // namespace cosmic::conformance
