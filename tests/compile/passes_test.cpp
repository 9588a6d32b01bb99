// Each pass on a small graph where it applies: it does what it says, and the results stay.
#include "compile/passes/passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_values.hpp"
#include "core/error.hpp"
#include "model/layers.hpp"
#include "model/segmentation_loss.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Initializer;
using graph::Shape;
using graph::ValueId;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kExact = 1e-12;  // the reference computes in double precision

const graph::Window kSame{{1, 1, 1}, {0, 1, 1}};  // of a 3x3 kernel

ValueId image(Builder& g, const std::string& name, Shape shape) {
  return g.input(name, {DType::f32, std::move(shape)});
}

ValueId weights(Builder& g, const std::string& name, Shape shape) {
  return g.parameter(name, std::move(shape), Initializer::constant(0));
}

Graph without_dead_nodes(Graph graph) {
  return drop_dead_nodes().run(std::move(graph));
}

/// Of the only convolution that is left.
Shape shape_of_conv(const Graph& graph) {
  for (const graph::Node& node : graph.nodes()) {
    if (graph::op_if<graph::Conv>(node) != nullptr) {
      return node.type.shape;
    }
  }
  return {};
}

std::size_t images_of(const Graph& graph, std::string_view op) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes().begin(), graph.nodes().end(), [&](const graph::Node& node) {
        return node.type.rank() >= 4 && graph::name_of(node.op) == op;
      }));
}

Graph evaluated_norm(model::Direction direction, model::Bias bias) {
  Builder g;
  const bool transposed = direction == model::Direction::transposed;
  const ValueId x = image(g, "image", {2, 3, 4, 6});
  const model::Layer conv =
      model::convolution(g, "conv",
                         {.from = 3,
                          .to = 5,
                          .kernel = transposed ? Shape{2, 2} : Shape{3, 3},
                          .window = transposed ? graph::Window{{1, 2, 2}, {0, 0, 0}} : kSame,
                          .bias = bias,
                          .direction = direction,
                          .weights = model::WeightRule::fan_in});
  const model::Layer norm =
      model::batch_norm(g, "norm", {.channels = 5, .groups = 1, .phase = model::Phase::evaluation});
  g.output("y", norm(g, conv(g, x)));
  return g.take();
}

TEST(FoldNormalization, moves_a_norm_with_fixed_statistics_into_the_convolution) {
  for (const auto direction : {model::Direction::forward, model::Direction::transposed}) {
    for (const auto bias : {model::Bias::yes, model::Bias::no}) {
      const Graph graph = evaluated_norm(direction, bias);
      const Graph folded = without_dead_nodes(fold_normalization().run(graph));
      graph::verify(folded);
      EXPECT_EQ(images_of(graph, "channel_affine"), 1U);
      EXPECT_EQ(images_of(folded, "channel_affine"), 0U);
      EXPECT_LE(distance(folded, graph), kExact);
    }
  }
}

TEST(FoldNormalization, leaves_a_convolution_alone_that_someone_else_reads) {
  Builder g(evaluated_norm(model::Direction::forward, model::Bias::yes));
  for (std::size_t i = 0; i < g.graph().size(); ++i) {
    if (graph::op_if<graph::Conv>(g.graph().node(ValueId(i))) != nullptr) {
      g.output("before", g.add(graph::LeakyRelu{}, {ValueId(i)}));
      break;
    }
  }
  const Graph graph = g.take();
  const Graph same = without_dead_nodes(fold_normalization().run(graph));
  EXPECT_EQ(images_of(same, "channel_affine"), 1U);
  EXPECT_LE(distance(same, graph), kExact);
}

TEST(CommuteUpsampleWithConv, convolves_the_small_image) {
  for (const auto interpolation : {graph::Interpolation::bilinear, graph::Interpolation::nearest}) {
    Builder g;
    const ValueId up =
        g.add(graph::Upsample{interpolation, {1, 2, 2}}, {image(g, "image", {2, 3, 4, 6})});
    g.output("y", g.add(graph::Conv{},
                        {up, weights(g, "weight", {5, 3, 1, 1}), weights(g, "bias", {5})}));
    const Graph graph = g.take();
    const Graph commuted = without_dead_nodes(commute_upsample_with_conv().run(graph));
    graph::verify(commuted);
    EXPECT_EQ(shape_of_conv(graph), (Shape{2, 5, 8, 12}));
    EXPECT_EQ(shape_of_conv(commuted), (Shape{2, 5, 4, 6}));
    EXPECT_LE(distance(commuted, graph), kExact);
  }
}

TEST(CommuteUpsampleWithConv, leaves_a_kernel_with_neighbours_where_it_is) {
  Builder g;
  const ValueId up = g.add(graph::Upsample{}, {image(g, "image", {2, 3, 4, 6})});
  g.output("y", g.add(graph::Conv{kSame}, {up, weights(g, "weight", {5, 3, 3, 3})}));
  EXPECT_EQ(shape_of_conv(commute_upsample_with_conv().run(g.take())), (Shape{2, 5, 8, 12}));
}

TEST(SplitConvOfConcat, adds_up_convolutions_of_the_parts) {
  for (const bool has_bias : {true, false}) {
    Builder g;
    const ValueId a = image(g, "a", {2, 3, 4, 6});
    const ValueId b = image(g, "b", {2, 1, 4, 6});
    // A part that appears twice, the second time last, must get the bias once.
    const ValueId joined = g.add(graph::Concat{1}, {a, b, a});
    std::vector<ValueId> operands{joined, weights(g, "weight", {5, 7, 3, 3})};
    if (has_bias) {
      operands.push_back(weights(g, "bias", {5}));
    }
    g.output("y", g.add(graph::Conv{kSame}, operands));
    const Graph graph = g.take();
    const Graph split = without_dead_nodes(split_conv_of_concat().run(graph));
    graph::verify(split);
    EXPECT_EQ(count<graph::Concat>(split), 0U);
    EXPECT_EQ(count<graph::Conv>(split), 3U);
    EXPECT_LE(distance(split, graph), kExact);
  }
}

/// Convolution, norm with batch statistics, activation, convolution, loss.
Graph trained_layers() {
  Builder g;
  const ValueId x = image(g, "image", {3, 1, 4, 6});
  const ValueId labels = g.input("label", {DType::u8, {1, 3, 4, 6}});
  const model::Layer conv =
      model::convolution(g, "conv", {.from = 1, .to = 4, .kernel = {3, 3}, .window = kSame});
  const model::Layer norm = model::batch_norm(g, "norm", {.channels = 4, .groups = 3});
  const model::Layer last = model::convolution(g, "last", {.from = 4, .to = 3, .kernel = {1, 1}});
  const ValueId hidden = g.add(graph::LeakyRelu{}, {norm(g, conv(g, x))});
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  g.output(kLossOutput, loss.loss(g, last(g, hidden), labels));
  return g.take();
}

bool is_zero(const Graph& graph, const std::string& output) {
  const auto* fill = graph::op_if<graph::Fill>(graph.node(graph.output(output).value));
  return fill != nullptr && fill->value == 0;
}

TEST(CancelBiasBeforeNormalization, knows_the_gradient_that_is_zero) {
  const Graph graph = differentiate().run(trained_layers());
  const Graph cancelled = without_dead_nodes(cancel_bias_before_normalization().run(graph));
  graph::verify(cancelled);
  EXPECT_FALSE(is_zero(graph, "gradient/conv.bias"));
  EXPECT_TRUE(is_zero(cancelled, "gradient/conv.bias"));
  EXPECT_FALSE(is_zero(cancelled, "gradient/last.bias"));
  EXPECT_FALSE(is_zero(cancelled, "gradient/norm.bias"));
  EXPECT_LE(distance(cancelled, graph), kExact);
}

TEST(CancelBiasBeforeNormalization, sees_through_an_upsampling_that_was_moved) {
  Builder g;
  const ValueId x = image(g, "image", {3, 2, 2, 3});
  const ValueId labels = g.input("label", {DType::u8, {1, 3, 4, 6}});
  const model::Layer conv = model::convolution(g, "conv", {.from = 2, .to = 3, .kernel = {1, 1}});
  const model::Layer norm = model::batch_norm(g, "norm", {.channels = 3, .groups = 3});
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  const ValueId y = norm(g, conv(g, g.add(graph::Upsample{}, {x})));
  g.output(kLossOutput, loss.loss(g, y, labels));
  const Graph graph = differentiate().run(commute_upsample_with_conv().run(g.take()));
  const Graph cancelled = cancel_bias_before_normalization().run(graph);
  EXPECT_TRUE(is_zero(cancelled, "gradient/conv.bias"));
  EXPECT_LE(distance(cancelled, graph), kExact);
}

TEST(MoveAddIntoConv, starts_the_sums_of_the_convolution_at_the_addend) {
  for (const bool conv_first : {true, false}) {
    Builder g;
    const ValueId x = image(g, "image", {2, 3, 4, 6});
    const ValueId conv = g.add(graph::Conv{kSame}, {x, weights(g, "weight", {3, 3, 3, 3})});
    g.output("y", g.add(graph::Add{}, conv_first ? std::vector{conv, x} : std::vector{x, conv}));
    const Graph graph = g.take();
    const Graph moved = without_dead_nodes(move_add_into_conv().run(graph));
    graph::verify(moved);
    EXPECT_EQ(count<graph::Add>(moved), 0U);
    EXPECT_EQ(count<graph::Conv>(moved), 1U);
    EXPECT_LE(distance(moved, graph), kExact);
  }
}

TEST(MoveAddIntoConv, leaves_a_convolution_alone_that_someone_else_reads) {
  Builder g;
  const ValueId x = image(g, "image", {2, 3, 4, 6});
  const ValueId conv = g.add(graph::Conv{kSame}, {x, weights(g, "weight", {3, 3, 3, 3})});
  g.output("y", g.add(graph::Add{}, {conv, x}));
  g.output("z", g.add(graph::LeakyRelu{}, {conv}));
  EXPECT_EQ(count<graph::Add>(without_dead_nodes(move_add_into_conv().run(g.take()))), 1U);
}

TEST(DropDeadNodes, drops_what_nobody_needs_and_keeps_the_boundary) {
  Builder g;
  const ValueId x = image(g, "image", {1, 2, 4, 4});
  const ValueId unused_input = image(g, "unused_input", {1});
  const ValueId unused_state = weights(g, "unused_state", {1});
  const ValueId counter =
      g.state("counter", {DType::i64, {}}, graph::StateKind::buffer, Initializer::constant(0));
  const ValueId dead = g.add(graph::Scale{2}, {x});
  g.add(graph::LeakyRelu{}, {dead});
  g.output("y", g.add(graph::LeakyRelu{}, {x}));
  g.update(counter, g.add(graph::Increment{1}, {counter}));
  const Graph graph = g.take();
  const Graph kept = without_dead_nodes(graph);
  graph::verify(kept);
  EXPECT_EQ(kept.size(), graph.size() - 2);
  EXPECT_EQ(count<graph::Scale>(kept), 0U);
  EXPECT_EQ(kept.inputs.size(), 2U);
  EXPECT_EQ(kept.states.size(), 2U);
  EXPECT_EQ(graph.node(unused_input).name, kept.node(kept.inputs[1].value).name);
  EXPECT_EQ(graph.node(unused_state).name, kept.node(kept.states[0].value).name);
  EXPECT_LE(distance(kept, graph), 0);
}

TEST(Differentiate, gives_a_parameter_without_effect_a_zero_gradient) {
  Builder g(trained_layers());
  weights(g, "idle", {2, 2});
  const Graph graph = differentiate().run(g.take());
  EXPECT_TRUE(is_zero(graph, "gradient/idle"));
}

TEST(Differentiate, refuses_an_op_without_gradient_by_name_and_layer) {
  Builder g;
  const ValueId p = weights(g, "p", {});
  const Builder::Scope scope(g, "some.layer");
  g.output(kLossOutput, g.add(graph::Moment{}, {p, p}));
  EXPECT_THAT([&] { differentiate().run(g.graph()); },
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("through moment at 'some.layer'"),
                                              HasSubstr("an update is not differentiated"))));
}

TEST(Differentiate, refuses_a_loss_that_is_not_one_number) {
  Builder g;
  g.output(kLossOutput, g.add(graph::Scale{2}, {weights(g, "p", {3})}));
  EXPECT_THAT([&] { differentiate().run(g.graph()); },
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("f32[3]"), HasSubstr("scalar"))));
}

TargetInfo recomputing_target() {
  TargetInfo target;
  target.name = "recomputing";
  target.can_recompute = [](const Graph&, ValueId) { return true; };
  return target;
}

struct Sum {
  Graph graph;
  ValueId value;
};

/// A sum of `parts` images, read by `readers` convolutions.
Sum read_sum(std::size_t parts, std::size_t readers) {
  Builder g;
  ValueId sum = image(g, "part0", {1, 4, 16, 16});
  for (std::size_t i = 1; i < parts; ++i) {
    const ValueId part = image(g, "part" + std::to_string(i), {1, 4, 16, 16});
    sum = g.add(graph::Add{}, {sum, part});
  }
  const ValueId kernel = weights(g, "weight", {4, 4, 3, 3});
  for (std::size_t i = 0; i < readers; ++i) {
    g.output("y" + std::to_string(i), g.add(graph::Conv{kSame}, {sum, kernel}));
  }
  return {g.take(), sum};
}

TEST(ChooseStoredValues, recomputes_a_local_value_that_is_read_once) {
  const Sum sum = read_sum(2, 1);
  const Graph chosen = choose_stored_values(recomputing_target()).run(sum.graph);
  graph::verify(chosen);
  EXPECT_FALSE(chosen.node(sum.value).stored);
  EXPECT_LE(distance(chosen, sum.graph), 0);
}

TEST(ChooseStoredValues, stores_what_is_read_so_often_that_recomputing_reads_more) {
  const Sum sum = read_sum(3, 32);
  const Graph chosen = choose_stored_values(recomputing_target()).run(sum.graph);
  EXPECT_TRUE(chosen.node(sum.value).stored);
}

TEST(ChooseStoredValues, cuts_a_long_chain_of_sums) {
  const Sum sum = read_sum(9, 1);
  const Graph chosen = choose_stored_values(recomputing_target()).run(sum.graph);
  std::size_t stored_sums = 0;
  for (const graph::Node& node : chosen.nodes()) {
    stored_sums += graph::op_if<graph::Add>(node) != nullptr && node.stored ? 1 : 0;
  }
  EXPECT_GE(stored_sums, 1U);
  EXPECT_LT(stored_sums, count<graph::Add>(chosen));
}

TEST(ChooseStoredValues, stores_everything_for_a_target_that_cannot_recompute) {
  const Graph chosen = choose_stored_values(TargetInfo{}).run(read_sum(3, 1).graph);
  for (const graph::Node& node : chosen.nodes()) {
    EXPECT_TRUE(node.stored);
  }
}

TEST(ChooseStoredValues, stores_what_the_caller_wants_to_see) {
  Builder g;
  const ValueId y = g.add(graph::LeakyRelu{}, {image(g, "image", {1, 4, 16, 16})});
  g.output("y", y);
  g.output("z", g.add(graph::Conv{kSame}, {y, weights(g, "weight", {4, 4, 3, 3})}));
  const Graph chosen = choose_stored_values(recomputing_target()).run(g.take());
  EXPECT_TRUE(chosen.node(y).stored);
}

TEST(ApplyOptimizer, turns_gradients_into_updates_of_every_parameter) {
  const Graph graph = differentiate().run(trained_layers());
  const Graph step = apply_optimizer({Sgd{0.9}}, Keep::nothing).run(graph);
  graph::verify(step);
  EXPECT_EQ(count<graph::SgdStep>(step), 6U);  // weight and bias of two convolutions and a norm
  EXPECT_EQ(step.outputs.size(), graph.outputs.size() - 6);
  EXPECT_EQ(apply_optimizer({Sgd{0.9}}, Keep::gradients).run(graph).outputs.size(),
            graph.outputs.size());
}

Pass breaking(const std::string& name) {
  return {name, "to be caught", [](Graph graph) {
            graph.node(ValueId(0)).type = {DType::f32, {1}};
            return graph;
          }};
}

TEST(Pipeline, names_the_pass_that_broke_the_graph) {
  std::vector<PassReport> report;
  EXPECT_THAT(
      [&] {
        run_pipeline(trained_layers(), {drop_dead_nodes(), breaking("break-it")}, {}, report);
      },
      ThrowsMessage<InternalError>(AllOf(HasSubstr("pass 'break-it' broke"), HasSubstr("%0"))));
}

TEST(Pipeline, leaves_out_what_is_disabled_and_reports_the_rest) {
  std::vector<PassReport> report;
  PipelineOptions options;
  options.disabled = {"break-it"};
  std::vector<std::string> dumped;
  options.dump = [&](const std::string& pass, const Graph&) { dumped.push_back(pass); };
  run_pipeline(trained_layers(), {breaking("break-it"), drop_dead_nodes()}, options, report);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report[0].name, "drop-dead-nodes");
  EXPECT_EQ(dumped, std::vector<std::string>{"drop-dead-nodes"});
}

}  // namespace
}  // namespace cosmic::compile
