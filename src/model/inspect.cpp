#include "model/inspect.hpp"

namespace cosmic::model {

std::int64_t state_elements(const graph::Graph& graph, graph::StateKind kind) {
  std::int64_t sum = 0;
  for (const graph::StateVariable& state : graph.states) {
    if (state.kind == kind) {
      sum += graph.type(state.value).elements();
    }
  }
  return sum;
}

}  // namespace cosmic::model
