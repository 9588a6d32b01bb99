#include "session/step_cost.hpp"

#include <set>

namespace cosmic::session {
namespace {

class StepCost {
 public:
  explicit StepCost(const graph::Graph& graph) : graph_(graph) {}

  void add(const compile::Computed& computed) {
    written_.insert(computed.value);
    const graph::Cost own = graph::cost_of(graph_, computed.value);
    cost_.flops += own.flops;
    if (own.bytes <= 0) {
      return;
    }
    // The op counts its operands as if they were stored; what it reads of memory are the leaves.
    cost_.bytes += own.bytes;
    for (const graph::ValueId operand : graph_.node(computed.value).operands) {
      cost_.bytes -= bytes_of(operand);
    }
    const std::vector<compile::Expression::Term>& terms = computed.expression.terms;
    for (std::size_t i = 0; i + 1 < terms.size(); ++i) {  // the last is the value itself
      if (terms[i].operands.empty()) {
        read_.insert(terms[i].value);
      }
    }
  }

  graph::Cost total() const {
    graph::Cost total = cost_;
    for (const graph::ValueId leaf : read_) {
      total.bytes += written_.contains(leaf) ? 0 : bytes_of(leaf);
    }
    return total;
  }

 private:
  double bytes_of(graph::ValueId value) const {
    return static_cast<double>(graph::bytes_of(graph_.node(value)));
  }

  const graph::Graph& graph_;
  graph::Cost cost_;
  std::set<graph::ValueId> written_;
  std::set<graph::ValueId> read_;
};

}  // namespace

graph::Cost cost_of_step(const compile::Plan& plan, const compile::Step& step) {
  StepCost cost(plan.graph);
  cost.add(step.leader);
  for (const compile::Rider& rider : step.riders) {
    cost.add(rider.computed);
  }
  return cost.total();
}

}  // namespace cosmic::session
