#include "machine/liveness.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace cosmic::machine {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

/// When each value is read for the last time; its own index if never.
class LastReaders {
 public:
  explicit LastReaders(const Graph& graph) : graph_(graph), last_(graph.size()) {
    graph::for_each_node(graph, [&](ValueId id, const Node& node) {
      last_[id.index()] = id.index();
      // What is not stored is computed anew by each of its readers, who then read its operands.
      if (node.stored) {
        read_operands(node, id.index());
      }
    });
    for (const graph::NamedValue& output : graph.outputs) {
      read(output.value, graph.size() - 1);
    }
    for (const graph::StateUpdate& update : graph.updates) {
      read(update.value, graph.size() - 1);
    }
  }

  std::size_t of(ValueId id) const { return last_[id.index()]; }

 private:
  void read_operands(const Node& node, std::size_t reader) {
    for (const ValueId operand : node.operands) {
      read(operand, reader);
    }
  }

  void read(ValueId id, std::size_t reader) {
    last_[id.index()] = std::max(last_[id.index()], reader);
    if (!graph_.node(id).stored) {
      read_operands(graph_.node(id), reader);
    }
  }

  const Graph& graph_;
  std::vector<std::size_t> last_;
};

bool is_state(const Node& node) {
  return std::holds_alternative<graph::State>(node.op);
}

/// Values that are the new value of a state which they are computed from, element by element.
std::vector<bool> written_over_states(const Graph& graph) {
  std::vector<bool> written(graph.size(), false);
  for (const graph::StateUpdate& update : graph.updates) {
    const std::vector<ValueId>& operands = graph.node(update.value).operands;
    written[update.value.index()] =
        graph.type(update.value) == graph.type(update.state) &&
        std::find(operands.begin(), operands.end(), update.state) != operands.end();
  }
  return written;
}

/// The operand whose bytes the result takes over, if there is one.
std::optional<ValueId> taken_over(const Graph& graph, ValueId id, const LastReaders& last) {
  const Node& node = graph.node(id);
  const bool same_elements = std::holds_alternative<graph::Reshape>(node.op);
  if (!same_elements && graph::locality_of(node.op) != graph::Locality::pixel) {
    return std::nullopt;
  }
  for (const ValueId operand : node.operands) {
    const Node& read = graph.node(operand);
    if (read.stored && !is_state(read) && last.of(operand) == id.index() &&
        graph::bytes_of(read) == graph::bytes_of(node)) {
      return operand;
    }
  }
  return std::nullopt;
}

void sort_largest_first(std::vector<LiveTensor>& tensors) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const LiveTensor& a, const LiveTensor& b) { return a.bytes > b.bytes; });
}

LiveTensor live_tensor(const Graph& graph, ValueId id, std::string layer, std::string op) {
  return {.value = id,
          .layer = std::move(layer),
          .op = std::move(op),
          .bytes = static_cast<double>(graph::bytes_of(graph.node(id)))};
}

}  // namespace

Liveness liveness_of(const Graph& graph) {
  Liveness result;
  for (const graph::StateVariable& state : graph.states) {
    result.states.push_back(live_tensor(graph, state.value, state.name, "state"));
    result.states.back().last = graph.size();
    result.always_live += result.states.back().bytes;
  }
  sort_largest_first(result.states);

  const LastReaders last(graph);
  const std::vector<bool> over_state = written_over_states(graph);
  std::vector<std::optional<std::size_t>> tensor_of(graph.size());
  std::vector<double> freed_after(graph.size(), 0);
  double alive = 0;
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    if (node.stored && !is_state(node) && !over_state[id.index()]) {
      LiveTensor tensor = live_tensor(graph, id, node.name, std::string(graph::name_of(node.op)));
      tensor.first = id.index();
      tensor.last = last.of(id);
      alive += tensor.bytes;
      freed_after[tensor.last] += tensor.bytes;
      const std::optional<ValueId> operand = taken_over(graph, id, last);
      if (operand && tensor_of[operand->index()]) {
        // The same bytes under another name.
        LiveTensor& before = result.tensors[*tensor_of[operand->index()]];
        before.last = id.index() - 1;
        alive -= before.bytes;
        freed_after[id.index()] -= before.bytes;
      }
      tensor_of[id.index()] = result.tensors.size();
      result.tensors.push_back(std::move(tensor));
    }
    result.over_program.push_back(alive);
    if (alive > result.peak) {
      result.peak = alive;
      result.peak_at = id.index();
    }
    alive -= freed_after[id.index()];
  });
  result.at_peak = alive_at(result, result.peak_at);
  return result;
}

std::vector<LiveTensor> alive_at(const Liveness& liveness, std::size_t node) {
  std::vector<LiveTensor> alive;
  std::copy_if(liveness.tensors.begin(), liveness.tensors.end(), std::back_inserter(alive),
               [&](const LiveTensor& tensor) {
                 return tensor.first <= node && tensor.last >= node && tensor.bytes > 0;
               });
  sort_largest_first(alive);
  return alive;
}

}  // namespace cosmic::machine
