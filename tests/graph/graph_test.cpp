// The graph as people meet it: what the builder refuses, what the verifier finds, what the dump
// shows.
#include "graph/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Kind, class... Text>
auto refuses(const Text&... text) {
  return ThrowsMessage<Kind>(AllOf(HasSubstr(text)...));
}

/// A 3x3 convolution and an activation, in a layer of their own; a counter.
Graph small_graph() {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 2, 4, 6}});
  const ValueId weight = g.parameter("layer.weight", {3, 2, 3, 3}, Initializer::uniform(0.1));
  const ValueId counter =
      g.state("seen", {DType::i64, {}}, StateKind::buffer, Initializer::constant(0));
  {
    const Builder::Scope outer(g, "outer");
    const Builder::Scope inner(g, "layer");
    const ValueId y = g.add(Conv{{{1, 1, 1}, {0, 1, 1}}}, {image, weight});
    g.output("y", g.add(LeakyRelu{0.01}, {y}));
  }
  g.update(counter, g.add(Increment{1}, {counter}));
  return g.take();
}

TEST(GraphText, has_a_line_for_each_node_output_and_update) {
  EXPECT_EQ(to_text(small_graph()),
            "%0 input() : f32[1x2x4x6]  # image\n"
            "%1 state() : f32[3x2x3x3]  # layer.weight\n"
            "%2 state() : i64[scalar]  # seen\n"
            "%3 conv(%0, %1) stride=1x1x1 pad=0x1x1 slope=1 : f32[1x3x4x6]  # outer.layer\n"
            "%4 leaky_relu(%3) slope=0.01 : f32[1x3x4x6]  # outer.layer\n"
            "%5 increment(%2) by=1 : i64[scalar]\n"
            "output y = %4\n"
            "update %2 := %5  # seen\n");
}

TEST(GraphText, says_what_is_not_stored) {
  Graph graph = small_graph();
  graph.node(ValueId(4)).stored = false;
  EXPECT_THAT(to_text(graph), HasSubstr("f32[1x3x4x6] (not stored)  # outer.layer"));
}

TEST(Builder, a_channel_mismatch_names_layer_and_both_shapes) {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 2, 4, 6}});
  const ValueId weight = g.parameter("weight", {3, 5, 3, 3}, Initializer::constant(0));
  const Builder::Scope scope(g, "net_core.down");
  EXPECT_THAT(
      [&] {
        g.add(Conv{}, {image, weight});
      },
      refuses<ShapeError>("net_core.down", "f32[1x2x4x6]", "f32[3x5x3x3]", "axis 1"));
}

TEST(Builder, a_kernel_larger_than_the_image_names_layer_and_shapes) {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 2, 4, 6}});
  const ValueId weight = g.parameter("weight", {3, 2, 5, 5}, Initializer::constant(0));
  const Builder::Scope scope(g, "first");
  EXPECT_THAT(
      [&] {
        g.add(Conv{}, {image, weight});
      },
      refuses<ShapeError>("first", "f32[1x2x4x6]", "f32[3x2x5x5]"));
}

TEST(Builder, an_addition_of_different_shapes_names_layer_and_both) {
  Builder g;
  const ValueId a = g.input("a", {DType::f32, {1, 2, 4, 6}});
  const ValueId b = g.input("b", {DType::f32, {1, 2, 4, 5}});
  const Builder::Scope scope(g, "skip");
  EXPECT_THAT(
      [&] {
        g.add(Add{}, {a, b});
      },
      refuses<ShapeError>("skip", "f32[1x2x4x6]", "f32[1x2x4x5]", "same type"));
}

TEST(Builder, a_wrong_number_of_operands_names_the_op_and_how_many_it_takes) {
  Builder g;
  const ValueId a = g.input("a", {DType::f32, {1}});
  const Builder::Scope scope(g, "sum");
  EXPECT_THAT([&] { g.add(Add{}, {a}); },
              refuses<ShapeError>("add at 'sum'", "1 operands", "2 to 2"));
}

TEST(Builder, a_state_without_extent_is_refused_by_name) {
  Builder g;
  EXPECT_THAT(
      [&] {
        g.parameter("conv.weight", {0, 3, 3, 3}, Initializer::constant(0));
      },
      refuses<ShapeError>("'conv.weight'", "f32[0x3x3x3]", "positive"));
}

TEST(Verify, a_sound_graph_passes) {
  EXPECT_NO_THROW(verify(small_graph()));
}

TEST(Verify, a_wrong_type_names_the_node_and_both_types) {
  Graph graph = small_graph();
  graph.node(ValueId(3)).type.shape[1] = 7;
  EXPECT_THAT([&] { verify(graph); },
              refuses<InternalError>("%3 conv (outer.layer)", "f32[1x7x4x6]", "f32[1x3x4x6]"));
}

TEST(Verify, an_operand_from_the_future_names_reader_and_operand) {
  Graph graph = small_graph();
  graph.node(ValueId(3)).operands[0] = ValueId(4);
  EXPECT_THAT([&] { verify(graph); },
              refuses<InternalError>("%3 conv (outer.layer)", "%4", "not computed before"));
}

TEST(Verify, a_missing_operand_names_the_node) {
  Graph graph = small_graph();
  graph.node(ValueId(4)).operands.clear();
  EXPECT_THAT([&] { verify(graph); },
              refuses<InternalError>("%4 leaky_relu (outer.layer)", "0 operands"));
}

TEST(Verify, a_shape_rule_that_is_broken_names_the_node) {
  Graph graph = small_graph();
  graph.node(ValueId(3)).operands[1] = ValueId(0);
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("%3 conv (outer.layer)"));
}

TEST(Verify, an_op_that_is_not_local_must_be_stored) {
  Graph graph = small_graph();
  graph.node(ValueId(3)).stored = false;
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("%3 conv", "not stored", "not local"));
}

TEST(Verify, an_output_must_be_stored) {
  Graph graph = small_graph();
  graph.node(ValueId(4)).stored = false;
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("output 'y'", "%4", "not stored"));
}

TEST(Verify, an_update_of_another_type_names_the_state) {
  Graph graph = small_graph();
  graph.updates[0].value = ValueId(4);
  EXPECT_THAT([&] { verify(graph); },
              refuses<InternalError>("%2 state (seen)", "f32[1x3x4x6]", "i64"));
}

TEST(Verify, a_guard_of_updates_must_be_an_output_of_one_float) {
  Graph graph = small_graph();
  graph.guard = graph.outputs[0].value;
  EXPECT_THAT([&] { verify(graph); },
              refuses<InternalError>("guard of updates is %4", "an output of one float"));
  graph.guard = ValueId(99);
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("guard of updates is %99"));
}

TEST(Verify, an_update_that_waits_for_gradients_needs_a_guard_that_says_of_them) {
  Graph graph = small_graph();
  graph.updates[0].guard = Guard::gradients;
  EXPECT_THAT([&] { verify(graph); },
              refuses<InternalError>("%2 state (seen)", "waits for finite gradients"));
  graph.gradient_guard = graph.outputs[0].value;
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("guard of updates by gradients is %4",
                                                             "an output of one float"));
}

TEST(GraphText, says_which_updates_wait_for_gradients) {
  Builder g(small_graph());
  const ValueId finite = g.add(AllFinite{}, {g.graph().outputs[0].value});
  g.output("finite", finite);
  Graph graph = g.take();
  graph.gradient_guard = finite;
  graph.updates[0].guard = Guard::gradients;
  EXPECT_NO_THROW(verify(graph));
  EXPECT_THAT(to_text(graph), HasSubstr("update %2 := %5 if %6 is finite  # seen\n"));
}

TEST(LossScale, ops_refuse_what_is_no_scale_or_no_counter) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {4}});
  const ValueId scale = g.input("scale", {DType::f32, {}});
  const ValueId steps = g.input("steps", {DType::i64, {}});
  const ValueId label = g.input("label", {DType::u8, {4}});
  EXPECT_THAT([&] { g.add(AllFinite{}, {x, label}); }, refuses<ShapeError>("u8[4]", "only floats"));
  EXPECT_THAT([&] { g.add(AllReduce{}, {x, label}); }, refuses<ShapeError>("u8[4]", "only floats"));
  EXPECT_THAT([&] { g.add(RestateStatistics{}, {x}); },
              refuses<ShapeError>("restate_statistics of f32[4]", "[2 x groups x channels]"));
  EXPECT_THAT([&] { g.add(Unscale{}, {x, x}); }, refuses<ShapeError>("f32[4]", "one float"));
  EXPECT_THAT(
      [&] {
        g.add(NextLossScale{}, {scale, scale, scale});
      },
      refuses<ShapeError>("next_loss_scale", "i64 scalar"));
  EXPECT_THAT(
      [&] {
        g.add(NextLossScale{1, 0.5, 10}, {scale, steps, scale});
      },
      refuses<ShapeError>("growth 1", "enlarges"));
  EXPECT_THAT(
      [&] {
        g.add(NextLossScale{2, 0.5, 0}, {scale, steps, scale});
      },
      refuses<ShapeError>("interval of 0", "1 or more"));
  EXPECT_THAT(
      [&] {
        g.add(GoodSteps{}, {scale, scale});
      },
      refuses<ShapeError>("good_steps", "i64 scalar"));
  EXPECT_THAT(
      [&] {
        g.add(GoodSteps{-1}, {steps, scale});
      },
      refuses<ShapeError>("interval of -1", "1 or more"));
}

TEST(Tf32, is_for_products_of_float32_factors_in_a_program_that_says_so) {
  Graph graph = small_graph();
  const ValueId conv(3);
  EXPECT_FALSE(takes_tf32(graph, conv));
  graph.numerics.tf32 = true;
  EXPECT_TRUE(takes_tf32(graph, conv));
  EXPECT_FALSE(takes_tf32(graph, ValueId(4)));
  graph.node(ValueId(1)).format = NumberFormat::bf16;
  EXPECT_FALSE(takes_tf32(graph, conv));
}

TEST(Verify, two_states_of_one_name_are_named) {
  Graph graph = small_graph();
  graph.states.push_back(graph.states[0]);
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("'layer.weight'"));
}

TEST(Verify, an_output_that_does_not_exist_is_named) {
  Graph graph = small_graph();
  graph.outputs.push_back({"ghost", ValueId(99)});
  EXPECT_THAT([&] { verify(graph); }, refuses<InternalError>("'ghost'", "%99", "6 nodes"));
}

/// An op as it should be, but for what a derived one takes away.
struct CompleteOp {
  static constexpr std::string_view name = "complete";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = any_layout;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const CompleteOp&) const = default;
  static TensorType infer(const CompleteOp&, Types in) { return in[0]; }
  static Adjoints gradient(const CompleteOp&, Builder&, const GradientArgs&) { return {}; }
  static Cost cost(const CompleteOp&, Types, const TensorType&) { return {}; }
};

struct WithoutRole : CompleteOp {
  void role() = delete;
};
struct WithoutWeights : CompleteOp {
  void is_weight() = delete;
};
struct WithoutOverwrite : CompleteOp {
  void overwrite() = delete;
};
struct WithoutExact : CompleteOp {
  void exact() = delete;
};
struct WithoutReduction : CompleteOp {
  void reduction() = delete;
};
struct WithoutDivision : CompleteOp {
  void division() = delete;
};
struct WithoutImages : CompleteOp {
  void images() = delete;
};

TEST(OpDefinition, is_not_met_by_an_op_that_leaves_out_what_it_is) {
  EXPECT_TRUE(OpDefinition<CompleteOp>);
  EXPECT_FALSE(OpDefinition<WithoutRole>);
  EXPECT_FALSE(OpDefinition<WithoutWeights>);
  EXPECT_FALSE(OpDefinition<WithoutOverwrite>);
  EXPECT_FALSE(OpDefinition<WithoutExact>);
  EXPECT_FALSE(OpDefinition<WithoutReduction>);
  EXPECT_FALSE(OpDefinition<WithoutDivision>);
  EXPECT_FALSE(OpDefinition<WithoutImages>);
}

TEST(Builder, an_input_whose_elements_no_number_counts_is_refused) {
  constexpr std::int64_t kSide = std::int64_t{1} << 31;
  Builder builder;
  EXPECT_THAT(
      [&] {
        builder.input("image", {DType::f32, {kSide, kSide, kSide}});
      },
      ThrowsMessage<ShapeError>(
          AllOf(HasSubstr("f32[2147483648x2147483648x2147483648] has more than"),
                HasSubstr("smaller image"))));
}

}  // namespace
}  // namespace cosmic::graph
