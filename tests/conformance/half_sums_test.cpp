// Products whose sums are kept in float16 (graph::partials_of), on the target that computes for
// modelled machines. Factors have few bits, so that a group of products has one sum in float32,
// whatever its order: results must then be the oracle's bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conformance/op_cases.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "target/registry.hpp"

namespace cosmic::conformance {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::Shape;
using graph::Transposed;
using graph::ValueId;
using target::reference::Tensor;

bool is_product(const Node& node) {
  return op_if<graph::Conv>(node) != nullptr || op_if<graph::ConvTranspose>(node) != nullptr ||
         op_if<graph::ConvKernelGradient>(node) != nullptr || op_if<graph::MatMul>(node) != nullptr;
}

/// With half factors and half sums. Results stay float32: what is compared is the sums.
Graph with_half_sums(Graph graph) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node node = graph.node(ValueId(i));
    if (is_product(node)) {
      graph.node(node.operands[0]).format = NumberFormat::f16;
      graph.node(node.operands[1]).format = NumberFormat::f16;
    }
  }
  graph.numerics.partials = NumberFormat::f16;
  return graph;
}

/// Five bits and a sign: sixteen products have at most fourteen, but soon float16 cannot hold their
/// sum.
void draw_few_bits(Tensor& tensor, RandomStream& random) {
  for (double& number : tensor.data) {
    number = static_cast<double>(random.next() % 63) / 8 - 31.0 / 8;
  }
}

OpCase with_few_bits(OpCase op_case) {
  RandomStream random(3, op_case.name);
  for (Tensor& input : op_case.inputs) {
    draw_few_bits(input, random);
  }
  for (auto& [name, state] : op_case.states) {
    draw_few_bits(state, random);
  }
  op_case.graph = with_half_sums(op_case.graph);
  return op_case;
}

/// With zeros for inputs and states.
OpCase case_of(std::string name, Graph graph, ValueId under_test) {
  OpCase op_case;
  op_case.name = std::move(name);
  op_case.under_test = under_test;
  for (const graph::NamedValue& input : graph.inputs) {
    op_case.inputs.push_back(target::reference::zeros(graph.type(input.value)));
  }
  for (const graph::StateVariable& state : graph.states) {
    op_case.states.emplace(state.name, target::reference::zeros(graph.type(state.value)));
  }
  op_case.graph = std::move(graph);
  return op_case;
}

/// A kernel's gradient next to that of its image: with float32 sums they are computed together.
OpCase paired_gradients() {
  const graph::TensorType image{graph::DType::f32, {2, 16, 6, 34}};
  const graph::TensorType kernel{graph::DType::f32, {16, 16, 3, 3}};
  const graph::Window window{{1, 1, 1}, {0, 1, 1}};
  Builder b;
  const ValueId x = b.input("x", image);
  const ValueId dy = b.input("dy", image);
  const ValueId w = b.input("w", kernel);
  const ValueId dx = b.add(graph::ConvTranspose{window, {6, 34}}, {dy, w});
  b.output("dx", dx);
  b.output("dw", b.add(graph::ConvKernelGradient{window, {3, 3}}, {x, dy}));
  return case_of("paired_gradients", b.take(), dx);
}

/// A gradient that only its update reads: with float32 sums it is never stored.
OpCase product_and_update() {
  const Shape shape{24, 40};
  Builder b;
  const ValueId x = b.input("x", {graph::DType::f32, {35, 40}});
  const ValueId dy = b.input("dy", {graph::DType::f32, {35, 24}});
  const ValueId rate = b.input("rate", {graph::DType::f32, {}});
  const ValueId w = b.parameter("w", shape, graph::Initializer::constant(0));
  const ValueId m = b.state("m", {graph::DType::f32, shape}, graph::StateKind::optimizer,
                            graph::Initializer::constant(0));
  const ValueId dw = b.add(graph::MatMul{Transposed::yes, Transposed::no}, {dy, x});
  const ValueId moment = b.add(graph::Moment{.decay = 0.5, .gain = 1, .power = 1}, {m, dw});
  b.update(m, moment);
  b.update(w, b.add(graph::SgdStep{}, {w, moment, rate}));
  return case_of("product_and_update", b.take(), dw);
}

/// Sums over the result of a convolution, which ride on it.
OpCase conv_and_statistics() {
  const graph::TensorType image{graph::DType::f32, {3, 24, 6, 34}};
  Builder b;
  const ValueId x = b.input("x", image);
  const ValueId w = b.input("w", {graph::DType::f32, {16, 24, 3, 3}});
  const ValueId y = b.add(graph::Conv{{{1, 1, 1}, {0, 1, 1}}}, {x, w});
  b.output("y", y);
  b.output("statistics", b.add(graph::Statistics{1, 1}, {y}));
  return case_of("conv_and_statistics", b.take(), y);
}

std::vector<OpCase> product_cases() {
  std::vector<OpCase> cases;
  for (const OpCase& op_case : op_cases()) {
    if (is_product(op_case.graph.node(op_case.under_test))) {
      cases.push_back(with_few_bits(op_case));
    }
  }
  cases.push_back(with_few_bits(paired_gradients()));
  cases.push_back(with_few_bits(product_and_update()));
  return cases;
}

const target::Target& host() {
  static const std::unique_ptr<target::Target> target = target::make_target("cpu");
  return *target;
}

class ProductWithHalfSums : public testing::TestWithParam<OpCase> {};

TEST_P(ProductWithHalfSums, has_the_bits_of_the_reference_with_any_number_of_threads) {
  const OpCase& op_case = GetParam();
  const compile::Plan plan = plan_for(op_case.graph, host());
  const std::vector<Tensor> expected = meaning_of(op_case.graph, op_case);
  for (const int threads : {1, 3}) {
    const std::vector<Tensor> results = run_on(host(), op_case, plan, threads);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string what =
          "result " + std::to_string(i) + " with " + std::to_string(threads) + " threads";
      const auto& outputs = op_case.graph.outputs;
      if (i < outputs.size() && !is_product(op_case.graph.node(outputs[i].value))) {
        expect_agreement(results[i], expected[i], 1e-6, what);  // an activation of one
      } else {
        EXPECT_EQ(results[i].data, expected[i].data) << what;
      }
    }
  }
}

TEST_P(ProductWithHalfSums, rounds_at_random_in_the_same_way_with_any_number_of_threads) {
  OpCase op_case = GetParam();
  op_case.graph.numerics.rounding = Rounding::stochastic;
  op_case.graph.numerics.seed = 11;
  const compile::Plan plan = plan_for(op_case.graph, host());
  const std::vector<Tensor> alone = run_on(host(), op_case, plan, 1);
  for (const int threads : {2, 5}) {
    const std::vector<Tensor> results = run_on(host(), op_case, plan, threads);
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].data, alone[i].data) << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProductWithHalfSums, testing::ValuesIn(product_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(HalfSums, lose_something_in_convolutions_their_adjoints_and_matrix_products) {
  std::size_t seen[4] = {};
  for (OpCase op_case : product_cases()) {
    const std::vector<Tensor> half = meaning_of(op_case.graph, op_case);
    op_case.graph.numerics.partials = NumberFormat::f32;
    const std::vector<Tensor> full = meaning_of(op_case.graph, op_case);
    const Node& node = op_case.graph.node(op_case.under_test);
    const std::size_t kind = op_if<graph::Conv>(node) != nullptr                 ? 0
                             : op_if<graph::ConvTranspose>(node) != nullptr      ? 1
                             : op_if<graph::ConvKernelGradient>(node) != nullptr ? 2
                                                                                 : 3;
    seen[kind] += half[0].data != full[0].data ? 1 : 0;
  }
  for (const std::size_t cases : seen) {
    EXPECT_GT(cases, 0U);
  }
}

TEST(HalfSums, of_a_convolution_are_what_its_statistics_are_of) {
  const OpCase op_case = with_few_bits(conv_and_statistics());
  const compile::Plan plan = plan_for(op_case.graph, host());
  const std::vector<Tensor> expected = meaning_of(op_case.graph, op_case);
  const std::vector<Tensor> results = run_on(host(), op_case, plan, 2);
  EXPECT_EQ(results[0].data, expected[0].data);
  expect_agreement(results[1], expected[1], 1e-5, "the statistics");
}

TEST(HalfSums, need_two_half_factors) {
  OpCase op_case = with_few_bits(paired_gradients());
  const auto partials_of = [&](std::size_t i) {
    return graph::partials_of(op_case.graph, op_case.graph.outputs[i].value);
  };
  EXPECT_EQ(partials_of(0), NumberFormat::f16);
  EXPECT_EQ(partials_of(1), NumberFormat::f16);
  op_case.graph.node(op_case.graph.inputs[0].value).format = NumberFormat::f32;  // x
  EXPECT_EQ(partials_of(0), NumberFormat::f16);
  EXPECT_EQ(partials_of(1), NumberFormat::f32);
  const compile::Plan plan = plan_for(op_case.graph, host());
  const std::vector<Tensor> expected = meaning_of(op_case.graph, op_case);
  const std::vector<Tensor> results = run_on(host(), op_case, plan, 2);
  EXPECT_EQ(results[0].data, expected[0].data);
  EXPECT_EQ(results[1].data, expected[1].data);
}

// --- many small terms ---

constexpr std::int64_t kTerms = 65536;
constexpr double kFactor = 0x1p-8;  // the terms are 1 in all

template <class Op>
OpCase long_sum(const std::string& name, const Op& op, const Shape& a, const Shape& b) {
  Builder builder;
  const ValueId x = builder.input("a", {graph::DType::f32, a});
  const ValueId y = builder.input("b", {graph::DType::f32, b});
  const ValueId sum = builder.add(op, {x, y});
  builder.output("sum", sum);
  return case_of(name, with_half_sums(builder.take()), sum);
}

std::vector<OpCase> long_sums() {
  const Shape pixel{1, kTerms, 1, 1};
  const Shape image{1, 1, 64, kTerms / 64};
  return {long_sum("matmul", graph::MatMul{}, {1, kTerms}, {kTerms, 1}),
          long_sum("conv", graph::Conv{}, pixel, {1, kTerms, 1, 1}),
          long_sum("conv_transpose", graph::ConvTranspose{{}, {1, 1}}, pixel, {kTerms, 1, 1, 1}),
          long_sum("conv_kernel_gradient", graph::ConvKernelGradient{{}, {1, 1}}, image, image)};
}

/// Of terms that are all factor * factor.
double sum_on_host(OpCase op_case, double factor) {
  for (Tensor& input : op_case.inputs) {
    std::fill(input.data.begin(), input.data.end(), factor);
  }
  return run_on(host(), op_case, plan_for(op_case.graph, host()), 2)[0].data[0];
}

TEST(LongSums, of_small_terms_stand_still_in_float16_and_come_out_right_in_float32) {
  const double group = kFactor * kFactor * static_cast<double>(graph::kPartialsGroup);
  float expected = 0;
  for (std::int64_t term = 0; term < kTerms; term += graph::kPartialsGroup) {
    expected = rounded(expected + static_cast<float>(group), NumberFormat::f16);
  }
  EXPECT_EQ(expected, 0.5) << "where half a step of float16 is as large as a group";
  for (OpCase sum : long_sums()) {
    EXPECT_EQ(sum_on_host(sum, kFactor), expected) << sum.name;
    sum.graph.numerics.partials = NumberFormat::f32;
    EXPECT_EQ(sum_on_host(sum, kFactor), 1) << sum.name;
  }
}

TEST(LongSums, of_small_terms_come_out_about_right_in_float16_where_rounding_is_stochastic) {
  for (OpCase sum : long_sums()) {
    sum.graph.numerics.rounding = Rounding::stochastic;
    EXPECT_NEAR(sum_on_host(sum, kFactor), 1, 0.1) << sum.name;
  }
}

TEST(LongSums, that_leave_the_range_of_float16_become_infinite) {
  for (const OpCase& sum : long_sums()) {
    EXPECT_TRUE(std::isinf(sum_on_host(sum, 4))) << sum.name;
  }
}

}  // namespace
}  // namespace cosmic::conformance
