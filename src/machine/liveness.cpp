#include "machine/liveness.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "machine/forward_pass.hpp"

namespace cosmic::machine {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

bool is_state(const Node& node) {
  return std::holds_alternative<graph::State>(node.op);
}

/// Which nodes read each value. What is not stored is computed anew by each of its readers, who
/// then read its operands.
class Readers {
 public:
  explicit Readers(const Graph& graph)
      : graph_(graph), readers_(graph.size()), held_(graph.size(), false) {
    graph::for_each_node(graph, [&](ValueId id, const Node& node) {
      if (node.stored) {
        for (const ValueId operand : node.operands) {
          read(operand, id.index());
        }
      }
    });
    for (const graph::NamedValue& output : graph.outputs) {
      hold(output.value);
    }
    for (const graph::StateUpdate& update : graph.updates) {
      hold(update.value);
    }
  }

  const std::set<std::size_t>& of(ValueId id) const { return readers_[id.index()]; }
  /// Is it wanted at the end of the program?
  bool held(ValueId id) const { return held_[id.index()]; }
  /// Its own index if nobody reads it.
  std::size_t last(ValueId id) const {
    if (held(id)) {
      return graph_.size() - 1;
    }
    return of(id).empty() ? id.index() : std::max(id.index(), *of(id).rbegin());
  }

 private:
  void read(ValueId id, std::size_t reader) {
    readers_[id.index()].insert(reader);
    if (!graph_.node(id).stored) {
      for (const ValueId operand : graph_.node(id).operands) {
        read(operand, reader);
      }
    }
  }

  void hold(ValueId id) {
    held_[id.index()] = true;
    if (!graph_.node(id).stored) {
      for (const ValueId operand : graph_.node(id).operands) {
        hold(operand);
      }
    }
  }

  const Graph& graph_;
  std::vector<std::set<std::size_t>> readers_;
  std::vector<bool> held_;
};

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
std::optional<ValueId> taken_over(const Graph& graph, ValueId id, const Readers& readers) {
  const Node& node = graph.node(id);
  const bool same_elements = std::holds_alternative<graph::Reshape>(node.op);
  if (!same_elements && graph::locality_of(node.op) != graph::Locality::pixel) {
    return std::nullopt;
  }
  for (const ValueId operand : node.operands) {
    const Node& read = graph.node(operand);
    if (read.stored && !is_state(read) && readers.last(operand) == id.index() &&
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

LiveTensor state_tensor(const Graph& graph, const graph::StateVariable& state) {
  LiveTensor tensor = live_tensor(
      graph, state.value, state.name,
      state.kind == graph::StateKind::optimizer ? std::string(kOptimizerState) : "state");
  tensor.last = graph.size();
  return tensor;
}

/// The tensors of all nodes; a node that owns no bytes has none.
std::vector<LiveTensor> tensors_of(const Graph& graph, const Readers& readers) {
  const std::vector<bool> over_state = written_over_states(graph);
  std::vector<LiveTensor> tensors;
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    LiveTensor tensor = live_tensor(graph, id, node.name, std::string(graph::name_of(node.op)));
    tensor.first = id.index();
    tensor.last = readers.last(id);
    const bool owns = node.stored && !is_state(node) && !over_state[id.index()];
    if (!owns) {
      tensor.bytes = 0;
    } else if (const std::optional<ValueId> operand = taken_over(graph, id, readers)) {
      tensors[operand->index()].last = id.index() - 1;  // the same bytes, renamed
    }
    tensors.push_back(std::move(tensor));
  });
  return tensors;
}

/// Adds `bytes` to all from first to last, both included.
void add(std::vector<double>& over_program, double bytes, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    over_program[i] += bytes;
  }
}

class StageSplit {
 public:
  StageSplit(const Graph& graph, const Readers& readers)
      : graph_(graph), readers_(readers), forward_(forward_pass(graph)) {
    std::int64_t last = 0;
    for (const Node& node : graph.nodes()) {
      last = std::max(last, node.stage);
    }
    stages_.resize(static_cast<std::size_t>(last) + 1);
    for (StageLiveness& stage : stages_) {
      stage.over_program.resize(graph.size(), 0);
    }
  }

  std::vector<StageLiveness> run(const std::vector<LiveTensor>& tensors) {
    for (const graph::StateVariable& state : graph_.states) {
      const Node& node = graph_.node(state.value);
      const auto bytes = static_cast<double>(graph::bytes_of(node));
      StageLiveness& stage = stage_of(node);
      stage.states += bytes;
      stage.state_tensors.push_back(state_tensor(graph_, state));
      if (state.kind == graph::StateKind::parameter) {
        stage.accumulators += static_cast<double>(node.type.bytes());
      }
      stage.optimizer += state.kind == graph::StateKind::optimizer ? bytes : 0;
    }
    for (const LiveTensor& life : tensors) {
      if (life.bytes > 0) {
        place(life);
      }
    }
    return std::move(stages_);
  }

 private:
  struct Span {
    std::size_t first;
    std::size_t last;
  };

  StageLiveness& stage_of(const Node& node) {
    return stages_[static_cast<std::size_t>(node.stage)];
  }

  static void hold(StageLiveness& stage, LiveTensor tensor, double bytes, const Span& span) {
    add(stage.over_program, bytes, span.first, span.last);
    tensor.bytes = bytes;
    tensor.first = span.first;
    tensor.last = span.last;
    stage.tensors.push_back(std::move(tensor));
  }

  void place(const LiveTensor& life) {
    const auto writer = static_cast<std::size_t>(graph_.node(life.value).stage);
    std::vector<std::optional<Span>> spans(stages_.size());
    spans[writer] = Span{life.first, readers_.held(life.value) ? life.last : life.first};
    for (const std::size_t reader : readers_.of(life.value)) {
      std::optional<Span>& span = spans[static_cast<std::size_t>(graph_.nodes()[reader].stage)];
      const std::size_t last = std::min(reader, life.last);  // another may take over its bytes
      span = span ? Span{span->first, std::max(span->last, last)} : Span{last, last};
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (!spans[s]) {
        continue;
      }
      StageLiveness& stage = stages_[s];
      hold(stage, life, life.bytes, *spans[s]);
      if (forward_[spans[s]->first] && !forward_[spans[s]->last]) {
        stage.kept_for_backward += life.bytes;
      }
      if (s != writer) {
        stage.received += life.bytes;
      }
    }
    pass_along(life, writer, spans);
  }

  /// A value that skips stages is handed on by each of them, one run after another.
  void pass_along(const LiveTensor& life, std::size_t writer,
                  const std::vector<std::optional<Span>>& spans) {
    std::size_t first = writer;
    std::size_t last = writer;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (spans[s]) {
        first = std::min(first, s);
        last = std::max(last, s);
      }
    }
    for (std::size_t s = first + 1; s < last; ++s) {
      if (!spans[s]) {
        hold(stages_[s], life, life.bytes, {0, graph_.size() - 1});
      }
    }
  }

  const Graph& graph_;
  const Readers& readers_;
  const std::vector<bool> forward_;
  std::vector<StageLiveness> stages_;
};

}  // namespace

double runs_in_flight(std::size_t stage, std::size_t stages) {
  return 2 * static_cast<double>(stages - 1 - stage) + 1;
}

Liveness liveness_of(const Graph& graph) {
  Liveness result;
  for (const graph::StateVariable& state : graph.states) {
    result.states.push_back(state_tensor(graph, state));
    result.always_live += result.states.back().bytes;
  }
  sort_largest_first(result.states);

  const Readers readers(graph);
  result.tensors = tensors_of(graph, readers);
  result.over_program.resize(graph.size(), 0);
  for (const LiveTensor& tensor : result.tensors) {
    add(result.over_program, tensor.bytes, tensor.first, tensor.last);
  }
  const auto peak = std::max_element(result.over_program.begin(), result.over_program.end());
  if (peak != result.over_program.end()) {
    result.peak = *peak;
    result.peak_at = static_cast<std::size_t>(peak - result.over_program.begin());
  }
  result.at_peak = alive_at(result.tensors, result.peak_at);
  result.stages = StageSplit(graph, readers).run(result.tensors);
  for (const StageLiveness& stage : result.stages) {
    result.kept_for_backward += stage.kept_for_backward;
  }
  return result;
}

std::vector<LiveTensor> alive_at(const std::vector<LiveTensor>& tensors, std::size_t node) {
  std::vector<LiveTensor> alive;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(alive),
               [&](const LiveTensor& tensor) {
                 return tensor.first <= node && tensor.last >= node && tensor.bytes > 0;
               });
  sort_largest_first(alive);
  return alive;
}

}  // namespace cosmic::machine
