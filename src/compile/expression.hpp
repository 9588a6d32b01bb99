// A value as its reader gets it. What is stored is loaded; what is not stored is an expression over
// stored values, which the reader evaluates for the part it needs, a row or a tile at a time. A
// fused kernel is nothing else: it evaluates the expressions of its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::compile {

/// The terms of a value, operands before those that read them; the last one is the value itself.
/// Each value occurs once, however often it is read.
struct Expression {
  struct Term {
    graph::ValueId value;
    /// Positions of its operands among the terms. Empty for what is stored, and thus only loaded.
    std::vector<std::uint32_t> operands;

    bool operator==(const Term&) const = default;
  };

  std::vector<Term> terms;

  bool operator==(const Expression&) const = default;
};

/// How a step computes `value`: its op, applied to what its operands are made of. The value itself
/// is the root, stored or not.
Expression expression_of(const graph::Graph& graph, graph::ValueId value);

/// One term of an expression, with the graph that says what its value is.
class TermView {
 public:
  TermView(const graph::Graph& graph, const Expression& expression)
      : TermView(graph, expression, expression.terms.size() - 1) {}

  graph::ValueId value() const { return term().value; }
  const graph::Node& node() const { return graph_->node(value()); }
  const graph::Graph& graph() const { return *graph_; }
  /// Is the value there, so that it is only loaded? Never so for the root.
  bool is_leaf() const {
    return index_ + 1 != expression_->terms.size() && term().operands.empty();
  }
  std::size_t operand_count() const { return term().operands.size(); }
  TermView operand(std::size_t i) const {
    return TermView(*graph_, *expression_, term().operands.at(i));
  }

  /// The op, if it is a Wanted and is evaluated here; null for a leaf.
  template <class Wanted>
  const Wanted* evaluated() const {
    return is_leaf() ? nullptr : graph::op_if<Wanted>(node());
  }

 private:
  TermView(const graph::Graph& graph, const Expression& expression, std::size_t index)
      : graph_(&graph), expression_(&expression), index_(index) {}

  const Expression::Term& term() const { return expression_->terms[index_]; }

  const graph::Graph* graph_;
  const Expression* expression_;
  std::size_t index_;
};

/// Is `leaf` the value, or one of the stored values it is recomputed from?
bool reads(const graph::Graph& graph, graph::ValueId value, graph::ValueId leaf);

/// Does a pixel of the value depend on no other pixel of `leaf` than the same one?
bool reads_same_pixel(const graph::Graph& graph, graph::ValueId value, graph::ValueId leaf);

/// "leaky_relu(channel_affine(%40, %42))"; a leaf is "%40".
std::string to_text(const TermView& term);

}  // namespace cosmic::compile
