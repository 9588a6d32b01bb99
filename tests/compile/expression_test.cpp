#include "compile/expression.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::ValueId;

constexpr std::int64_t kExtent = 4;

/// leaky(2 x) + x, of which only x and the sum are stored.
struct Residual {
  Graph graph;
  ValueId x;
  ValueId sum;
};

Residual residual() {
  Builder g;
  const ValueId x = g.input("x", {graph::DType::f32, {1, 1, kExtent, kExtent}});
  const ValueId doubled = g.add(graph::Scale{2}, {x});
  const ValueId active = g.add(graph::LeakyRelu{0.1}, {doubled});
  const ValueId sum = g.add(graph::Add{}, {active, x});
  g.output("y", sum);
  Residual result{g.take(), x, sum};
  result.graph.node(doubled).stored = false;
  result.graph.node(active).stored = false;
  return result;
}

TEST(Expression, goes_down_to_stored_values_and_lists_each_once) {
  const Residual r = residual();
  const Expression expression = expression_of(r.graph, r.sum);
  ASSERT_EQ(expression.terms.size(), 4U);
  EXPECT_EQ(expression.terms.front().value, r.x);
  EXPECT_TRUE(expression.terms.front().operands.empty());
  EXPECT_EQ(expression.terms.back().value, r.sum);
  EXPECT_EQ(to_text(TermView(r.graph, expression)), "add(leaky_relu(scale(%0)), %0)");
}

TEST(Expression, of_a_stored_operand_is_a_leaf) {
  Residual r = residual();
  r.graph.node(ValueId(2)).stored = true;
  const Expression expression = expression_of(r.graph, r.sum);
  EXPECT_EQ(to_text(TermView(r.graph, expression)), "add(%2, %0)");
  EXPECT_TRUE(TermView(r.graph, expression).operand(0).is_leaf());
  EXPECT_EQ(TermView(r.graph, expression).operand(0).evaluated<graph::LeakyRelu>(), nullptr);
}

TEST(Expression, of_a_stored_value_still_says_how_it_is_computed) {
  const Residual r = residual();
  const Expression expression = expression_of(r.graph, r.sum);
  EXPECT_FALSE(TermView(r.graph, expression).is_leaf());
  EXPECT_NE(TermView(r.graph, expression).evaluated<graph::Add>(), nullptr);
}

TEST(Expression, reads_the_same_pixel_only_through_ops_that_do) {
  Builder g;
  const ValueId x = g.input("x", {graph::DType::f32, {1, 1, kExtent, kExtent}});
  const ValueId doubled = g.add(graph::Scale{2}, {x});
  const ValueId small = g.add(graph::MaxPool{}, {doubled});
  g.output("y", small);
  Graph graph = g.take();
  graph.node(doubled).stored = false;
  graph.node(small).stored = false;
  EXPECT_TRUE(reads_same_pixel(graph, doubled, x));
  EXPECT_TRUE(reads(graph, small, x));
  EXPECT_FALSE(reads_same_pixel(graph, small, x));
}

// Each value reads the one before it twice: two to the power of two hundred ways lead to the input.
TEST(Expression, that_reads_a_value_on_endlessly_many_ways_is_looked_at_once) {
  Builder g;
  const ValueId x = g.input("x", {graph::DType::f32, {1, 1, kExtent, kExtent}});
  const ValueId other = g.input("other", {graph::DType::f32, {1, 1, kExtent, kExtent}});
  ValueId sum = x;
  for (int i = 0; i < 200; ++i) {
    sum = g.add(graph::Add{}, {sum, sum});
  }
  const ValueId small = g.add(graph::MaxPool{}, {sum});
  g.output("y", small);
  Graph graph = g.take();
  for (std::size_t i = 2; i < graph.size(); ++i) {
    graph.node(ValueId(i)).stored = false;
  }
  EXPECT_TRUE(reads(graph, sum, x));
  EXPECT_FALSE(reads(graph, sum, other));
  EXPECT_TRUE(reads_same_pixel(graph, sum, x));
  EXPECT_FALSE(reads_same_pixel(graph, small, x));
}

TEST(Expression, of_endless_recomputation_is_refused) {
  Builder g;
  ValueId x = g.input("x", {graph::DType::f32, {1, 1, kExtent, kExtent}});
  for (int i = 0; i < 300; ++i) {
    x = g.add(graph::Scale{2}, {x});
  }
  g.output("y", x);
  Graph graph = g.take();
  for (std::size_t i = 1; i + 1 < graph.size(); ++i) {
    graph.node(ValueId(i)).stored = false;
  }
  EXPECT_THROW(expression_of(graph, x), InternalError);
}

}  // namespace
}  // namespace cosmic::compile
