// One step at a time: what a value may be off by, and what is found out.
#include "target/check/check_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "compile/pipeline.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "model/fashion_mnist.hpp"
#include "session/model.hpp"
#include "session/planning.hpp"
#include "target/check/check_program.hpp"
#include "target/check/rounding_error.hpp"
#include "target/reference/evaluate.hpp"
#include "target/registry.hpp"

namespace cosmic::target::check {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::TensorType;
using graph::ValueId;
using reference::Tensor;

Tensor noise(const TensorType& type, const std::string& name, double low = -1, double high = 1) {
  Tensor tensor = reference::zeros(type);
  RandomStream random(5, name);
  for (double& value : tensor.data) {
    value = static_cast<float>(random.uniform(low, high));
  }
  return tensor;
}

/// A program with its inputs, and what a sound target would have of it.
struct Example {
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<Tensor> values;

  Example(Graph program, std::vector<Tensor> given)
      : graph(std::move(program)), inputs(std::move(given)) {
    values = reference::evaluate(graph, inputs);
    for (Tensor& value : values) {
      for (double& number : value.data) {
        number = static_cast<float>(number);
      }
    }
  }

  ValueCheck check(ValueId id) const {
    TargetValues target;
    target.given = [&](ValueId input) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (graph.inputs[i].value == input) {
          return inputs[i];
        }
      }
      return Tensor{};
    };
    target.observed = [&](ValueId value) { return values[value.index()]; };
    target.as_it_is = [](ValueId) { return std::nullopt; };
    for (const ValueCheck& check : check_values(graph, target)) {
      if (check.value == id) {
        return check;
      }
    }
    return {};
  }
};

/// x times a kernel with this many channels, kept in a format.
struct Convolution {
  ValueId y;
  Example example;

  explicit Convolution(NumberFormat format, std::int64_t channels = 8)
      : Convolution(format, {DType::f32, {2, channels, 6, 6}}, {DType::f32, {4, channels, 3, 3}}) {}

 private:
  Convolution(NumberFormat format, const TensorType& image, const TensorType& kernel)
      : example(program(format, image, kernel), {noise(image, "x"), noise(kernel, "w")}) {
    y = example.graph.outputs[0].value;
  }

  static Graph program(NumberFormat format, const TensorType& image, const TensorType& kernel) {
    Builder b;
    const ValueId x = b.input("x", image);
    const ValueId w = b.input("w", kernel);
    b.output("y", b.add(graph::Conv{{{1, 1, 1}, {0, 1, 1}}}, {x, w}));
    Graph graph = b.take();
    graph.node(graph.outputs[0].value).format = format;
    return graph;
  }
};

TEST(CheckValues, a_result_that_was_rounded_once_is_sound_in_every_format) {
  for (const NumberFormat format : {NumberFormat::f32, NumberFormat::bf16, NumberFormat::f16}) {
    const Convolution conv(format);
    const ValueCheck check = conv.example.check(conv.y);
    EXPECT_EQ(check.verdict, Verdict::sound) << to_string(format) << ' ' << check.share();
    EXPECT_LE(check.share(), 1);
  }
}

TEST(CheckValues, one_element_that_is_two_units_off_is_found_in_a_narrow_format) {
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::f16}) {
    Convolution conv(format);
    double& element = conv.example.values[conv.y.index()].data[17];
    element *= 1 + (format == NumberFormat::bf16 ? 0x1p-6 : 0x1p-9);
    EXPECT_EQ(conv.example.check(conv.y).verdict, Verdict::wrong) << to_string(format);
  }
}

TEST(CheckValues, one_element_off_by_a_few_of_24_bits_is_found_in_float32) {
  Convolution conv(NumberFormat::f32);
  conv.example.values[conv.y.index()].data[17] += 0x1p-15 * conv.example.check(conv.y).scale;
  const ValueCheck check = conv.example.check(conv.y);
  EXPECT_EQ(check.verdict, Verdict::wrong);
  EXPECT_GT(check.share(), 1);
}

TEST(CheckValues, small_errors_all_over_are_found_although_each_is_within_its_bound) {
  Convolution conv(NumberFormat::f32);
  const double offset = 0x1p-18 * conv.example.check(conv.y).scale;
  for (double& element : conv.example.values[conv.y.index()].data) {
    element += offset;
  }
  const ValueCheck check = conv.example.check(conv.y);
  EXPECT_LT(check.share(), 1);
  EXPECT_GT(check.spread, 2);
  EXPECT_EQ(check.verdict, Verdict::wrong);
}

TEST(CheckValues, longer_sums_have_wider_bounds) {
  const auto relative_bound = [](std::int64_t channels) {
    const Convolution conv(NumberFormat::f32, channels);
    const ValueCheck check = conv.example.check(conv.y);
    return check.bound / check.scale;
  };
  const double few = relative_bound(4);
  const double many = relative_bound(64);
  EXPECT_GT(many, 2 * few);
  EXPECT_LT(many, 16 * few);  // errors partly cancel: not in proportion to the length
}

TEST(CheckValues, elements_that_are_only_moved_may_not_change_at_all) {
  const TensorType type{DType::f32, {4, 6}};
  Builder b;
  const ValueId x = b.input("x", type);
  const ValueId y = b.add(graph::Slice{0, 1, 3}, {x});
  b.output("y", y);
  Example example(b.take(), {noise(type, "x")});
  EXPECT_EQ(example.check(y).verdict, Verdict::sound);
  double& element = example.values[y.index()].data[3];
  element = std::nextafter(static_cast<float>(element), 2.0F);
  EXPECT_EQ(example.check(y).verdict, Verdict::wrong);
}

TEST(CheckValues, what_is_not_a_number_is_wrong_where_a_number_is_due) {
  Convolution conv(NumberFormat::f32);
  for (const double none : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    conv.example.values[conv.y.index()].data[0] = none;
    EXPECT_EQ(conv.example.check(conv.y).verdict, Verdict::wrong) << none;
  }
}

TEST(CheckValues, a_number_too_large_for_float16_may_become_infinite) {
  const TensorType type{DType::f32, {2, 2}};
  Builder b;
  const ValueId x = b.input("x", type);
  const ValueId y = b.add(graph::Scale{1e6}, {x});
  b.output("y", y);
  Graph graph = b.take();
  graph.node(y).format = NumberFormat::f16;
  const Example example(std::move(graph), {noise(type, "x", 0.5, 1)});
  ASSERT_TRUE(std::isinf(example.values[y.index()].data[0]));
  EXPECT_NE(example.check(y).verdict, Verdict::wrong);
}

TEST(CheckValues, a_sum_whose_terms_cancel_proves_nothing_and_says_so) {
  const TensorType type{DType::f32, {1, 1, 1, 2}};
  Builder b;
  const ValueId x = b.input("x", type);
  const ValueId y = b.add(graph::ChannelSum{}, {x});
  b.output("y", y);
  Tensor given = reference::zeros(type);
  given.data = {1, static_cast<float>(-1 + 0x1p-24)};
  const Example example(b.take(), {given});
  EXPECT_EQ(example.check(y).verdict, Verdict::proves_nothing);
}

/// A value that is not stored is computed along with its reader; the reader's bound knows.
TEST(CheckValues, what_is_recomputed_on_the_way_is_part_of_the_readers_bound) {
  const TensorType image{DType::f32, {2, 4, 5, 5}};
  const TensorType kernel{DType::f32, {4, 4, 1, 1}};
  Builder b;
  const ValueId x = b.input("x", image);
  const ValueId w = b.input("w", kernel);
  const ValueId scaled = b.add(graph::Scale{0.3}, {x});
  const ValueId y = b.add(graph::Conv{}, {scaled, w});
  b.output("y", y);
  const Graph graph = b.take();
  const Estimate image_given{noise(image, "x"), {}};
  const Estimate kernel_given{noise(kernel, "w"), {}};
  const Estimate* const of_scale[] = {&image_given};
  const Estimate recomputed = estimate(graph, scaled, of_scale);
  const Estimate stored{recomputed.value, {}};
  ASSERT_FALSE(recomputed.exact());
  const Estimate* const reads_recomputed[] = {&recomputed, &kernel_given};
  const Estimate* const reads_stored[] = {&stored, &kernel_given};
  const Estimate more = estimate(graph, y, reads_recomputed);
  const Estimate less = estimate(graph, y, reads_stored);
  for (std::size_t i = 0; i < more.variance.size(); ++i) {
    EXPECT_GT(more.variance[i], less.variance[i]) << i;
  }
}

TEST(CheckValues, products_are_held_to_the_tf32_factors_that_the_program_asks_for) {
  Convolution conv(NumberFormat::f32);
  Graph graph = conv.example.graph;
  graph.numerics.tf32 = true;
  Example with_tf32(graph, conv.example.inputs);
  EXPECT_EQ(with_tf32.check(conv.y).verdict, Verdict::sound);
  // What float32 factors give is as wrong as what tf32 factors give where nobody asked for them.
  std::swap(with_tf32.values, conv.example.values);
  EXPECT_EQ(with_tf32.check(conv.y).verdict, Verdict::wrong);
  EXPECT_EQ(conv.example.check(conv.y).verdict, Verdict::wrong);
}

/// Its last bits decide, in the middle of two numbers, which of them a factor becomes. Elsewhere
/// they decide nothing.
TEST(CheckValues, a_factor_that_is_recomputed_may_be_rounded_either_way_in_the_middle_alone) {
  const TensorType image{DType::f32, {1, 4, 1, 2}};
  const TensorType kernel{DType::f32, {1, 4, 1, 1}};
  for (const NumberFormat format : {NumberFormat::f32, NumberFormat::bf16}) {
    const double unit = format == NumberFormat::bf16 ? 0x1p-7 : 0x1p-10;
    Builder b;
    const ValueId x = b.input("x", image);
    const ValueId w = b.input("w", kernel);
    const ValueId scaled = b.add(graph::Scale{3}, {x});
    const ValueId y = b.add(graph::Conv{}, {scaled, w});
    b.output("y", y);
    Graph graph = b.take();
    graph.numerics.tf32 = format == NumberFormat::f32;
    graph.numerics.narrow_factors = true;
    graph.node(scaled).format = format;
    graph.node(w).format = format;
    // Products cancel in both pixels; the first has a factor in the middle of 1 and the next.
    const double middle = 1 + unit / 2;
    const double beside = 1 + unit / 4;
    const Estimate given{{image, {middle / 3, beside / 3, 1.0 / 3, 1.0 / 3, 0, 0, 0, 0}}, {}};
    const Estimate signs{{kernel, {1, -1, 1, 1}}, {}};
    const Estimate* const of_scale[] = {&given};
    const Estimate recomputed = estimate(graph, scaled, of_scale);
    const Estimate* const operands[] = {&recomputed, &signs};
    const Estimate sum = estimate(graph, y, operands);
    EXPECT_GE(std::sqrt(sum.variance[0]), unit) << to_string(format);
    EXPECT_LT(std::sqrt(sum.variance[0]), 2 * unit) << to_string(format);
    EXPECT_LT(std::sqrt(sum.variance[1]), 0x1p-20) << to_string(format);
  }
}

TEST(CheckValues, sums_of_product_units_may_be_cut_off_instead_of_rounded) {
  const Convolution conv(NumberFormat::f32);
  Graph graph = conv.example.graph;
  const Estimate image{conv.example.inputs[0], {}};
  const Estimate kernel{conv.example.inputs[1], {}};
  const Estimate* const operands[] = {&image, &kernel};
  const Estimate rounded = estimate(graph, conv.y, operands);
  graph.numerics.narrow_factors = true;
  const Estimate cut_off = estimate(graph, conv.y, operands);
  for (std::size_t i = 0; i < rounded.variance.size(); ++i) {
    EXPECT_NEAR(cut_off.variance[i] / rounded.variance[i], 4, 1e-6) << i;
  }
}

// --- other networks ---

class FashionMnistOnTarget : public testing::TestWithParam<compile::Precision> {};

/// Matrices, soft maxima and a layout of their own: nothing of it is in the networks for events.
TEST_P(FashionMnistOnTarget, is_right_value_by_value_with_any_number_of_threads) {
  constexpr std::int64_t kBatch = 16;
  const model::FashionMnist network;
  const model::NegativeLogLikelihoodLoss loss;
  session::Options options;
  options.precision = GetParam();
  options.offline_compile = true;
  session::TrainingModel training(network, loss, compile::Sgd{.momentum = 0.9}, options);
  training.compile({{DType::f32, {kBatch, 1, 28, 28}}, {DType::u8, {kBatch}}});
  const compile::Plan& plan = *training.plans().front();
  const std::unique_ptr<Target> target = make_target("cpu");

  ProgramData data;
  for (const graph::NamedValue& input : plan.graph.inputs) {
    const TensorType& type = plan.graph.type(input.value);
    Tensor tensor = noise(type, input.name, 0, 1);
    if (type.dtype == DType::u8) {
      for (std::size_t i = 0; i < tensor.data.size(); ++i) {
        tensor.data[i] = static_cast<double>(i % 10);
      }
    }
    data.inputs.emplace_back(static_cast<std::size_t>(type.bytes()));
    to_bytes(tensor, data.inputs.back());
  }
  const session::ModelState state(*target, {&plan.graph}, 3);
  for (const std::string& name : state.names()) {
    data.states[name] = state.read(name).bytes;
  }
  for (const int threads : {1, 2}) {
    const ProgramCheck check = check_program(
        *target, plan, data, {.threads = threads, .work_worth_sharing = 0, .progress = {}},
        WholeProgram::yes);
    for (const ValueCheck& value : check.values) {
      EXPECT_NE(value.verdict, Verdict::wrong)
          << value.op << " of " << value.layer << (value.as_it_is ? " (as it is)" : "") << ": "
          << value.share() << " of its bound, spread " << value.spread << ", " << threads
          << " threads";
    }
    EXPECT_LE(check.count(Verdict::proves_nothing), check.values.size() / 20);
    EXPECT_FALSE(check.results.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, FashionMnistOnTarget,
                         testing::Values(compile::Precision{},
                                         compile::Precision{.format = NumberFormat::bf16},
                                         compile::Precision{.format = NumberFormat::f16}),
                         [](const auto& instance) { return to_string(instance.param.format); });

}  // namespace
}  // namespace cosmic::target::check
