#include "compile/expression.hpp"

#include <map>
#include <set>
#include <vector>

#include "core/error.hpp"

namespace cosmic::compile {

using graph::Graph;
using graph::Node;
using graph::ValueId;

namespace {

// A program's expressions have a dozen terms. The limit is for files that were made to be read.
constexpr std::size_t kMostTerms = 256;

}  // namespace

Expression expression_of(const Graph& graph, ValueId value) {
  // Operands have smaller indices than their readers, so going down through the indices finds all
  // terms, and going up lists operands before readers.
  std::set<ValueId> needed{value};
  for (auto term = needed.end(); term != needed.begin();) {
    --term;
    const Node& node = graph.node(*term);
    if (*term == value || !node.stored) {
      needed.insert(node.operands.begin(), node.operands.end());
    }
    COSMIC_REQUIRE(
        InternalError, needed.size() <= kMostTerms,
        "%" << value.index() << " is recomputed from more than " << kMostTerms << " values");
  }
  Expression expression;
  std::map<ValueId, std::uint32_t> positions;
  for (const ValueId id : needed) {
    const Node& node = graph.node(id);
    Expression::Term term{id, {}};
    if (id == value || !node.stored) {
      for (const ValueId operand : node.operands) {
        term.operands.push_back(positions.at(operand));
      }
    }
    positions.emplace(id, static_cast<std::uint32_t>(expression.terms.size()));
    expression.terms.push_back(std::move(term));
  }
  return expression;
}

namespace {

/// Calls visit(id) once for `value` and for whatever it is recomputed from, as long as visit() asks
/// for the operands: on many ways to one term, all but the first are left out.
template <class Visit>
void visit_terms(const Graph& graph, ValueId value, const Visit& visit) {
  std::vector<ValueId> waiting{value};
  std::set<ValueId> seen{value};
  while (!waiting.empty()) {
    const ValueId id = waiting.back();
    waiting.pop_back();
    if (!visit(id)) {
      continue;
    }
    for (const ValueId operand : graph.node(id).operands) {
      if (seen.insert(operand).second) {
        waiting.push_back(operand);
      }
    }
  }
}

}  // namespace

bool reads(const Graph& graph, ValueId value, ValueId leaf) {
  bool found = false;
  visit_terms(graph, value, [&](ValueId id) {
    found = found || id == leaf;
    return !found && !graph.node(id).stored;
  });
  return found;
}

bool reads_same_pixel(const Graph& graph, ValueId value, ValueId leaf) {
  bool same = true;
  visit_terms(graph, value, [&](ValueId id) {
    const Node& node = graph.node(id);
    if (!same || id == leaf || node.stored) {
      return false;
    }
    if (locality_of(node.op) == graph::Locality::pixel) {
      return true;
    }
    same = !reads(graph, id, leaf);
    return false;
  });
  return same;
}

std::string to_text(const TermView& term) {
  if (term.is_leaf()) {
    return "%" + std::to_string(term.value().index());
  }
  std::string text(graph::name_of(term.node().op));
  text += '(';
  for (std::size_t i = 0; i < term.operand_count(); ++i) {
    text += (i == 0 ? "" : ", ") + to_text(term.operand(i));
  }
  return text + ')';
}

}  // namespace cosmic::compile
