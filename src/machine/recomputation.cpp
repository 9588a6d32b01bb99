#include "machine/recomputation.hpp"

#include <algorithm>
#include <array>

#include "compile/passes/passes.hpp"
#include "machine/liveness.hpp"
#include "machine/workload.hpp"

namespace cosmic::machine {
namespace {

using graph::Graph;

// How many checkpoints are tried, besides those between stages. The least memory is near the square
// root of the number of layers, and a few hundred layers is much.
constexpr std::array kCounts{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

struct KeptValue {
  std::string layer;
  double bytes = 0;
};

/// What the forward pass stores, in program order.
std::vector<KeptValue> forward_values(const Graph& step, const machine::Workload& workload) {
  std::vector<KeptValue> values;
  for (const machine::Work& work : workload.works) {
    const graph::Node& node = step.node(work.value);
    if (work.phase == machine::Work::Phase::forward && node.stored &&
        work.kind != machine::Work::Kind::nothing) {
      values.push_back({node.name, static_cast<double>(graph::bytes_of(node))});
    }
  }
  return values;
}

/// Layers that cut `values` into about `count` parts of the same size.
std::vector<std::string> spaced(const std::vector<KeptValue>& values, int count) {
  double all = 0;
  for (const KeptValue& value : values) {
    all += value.bytes;
  }
  std::vector<std::string> layers;
  double passed = 0;
  double next = all / (count + 1);
  for (const KeptValue& value : values) {
    passed += value.bytes;
    if (passed >= next && passed < all) {
      next = passed + all / (count + 1);
      if (layers.empty() || layers.back() != value.layer) {
        layers.push_back(value.layer);
      }
    }
  }
  return layers;
}

/// The last layer of each stage but the last: a pipeline keeps what its stages hand on.
std::vector<std::string> stage_ends(const Graph& step, const machine::Workload& workload) {
  std::vector<std::string> ends(workload.stages);
  for (const machine::Work& work : workload.works) {
    if (work.phase == machine::Work::Phase::forward && work.kind != machine::Work::Kind::nothing) {
      ends[work.stage] = step.node(work.value).name;
    }
  }
  ends.pop_back();
  return ends;
}

/// What the fullest stage holds: the peak of one run, and what the others that are under way keep
/// for their backward pass.
double memory_of(const Graph& step) {
  const machine::Liveness liveness = machine::liveness_of(step);
  double most = 0;
  for (std::size_t s = 0; s < liveness.stages.size(); ++s) {
    const machine::StageLiveness& stage = liveness.stages[s];
    const double others = machine::runs_in_flight(s, liveness.stages.size()) - 1;
    most =
        std::max(most, stage.states + others * stage.kept_for_backward +
                           *std::max_element(stage.over_program.begin(), stage.over_program.end()));
  }
  return most;
}

}  // namespace

std::vector<std::string> best_checkpoints(const Graph& step) {
  const machine::Workload workload = machine::workload_of(step);
  const std::vector<KeptValue> values = forward_values(step, workload);
  std::vector<std::string> best;
  double least = memory_of(step);
  for (const int count : kCounts) {
    std::vector<std::string> layers = stage_ends(step, workload);
    for (const std::string& layer : spaced(values, count)) {
      if (std::find(layers.begin(), layers.end(), layer) == layers.end()) {
        layers.push_back(layer);
      }
    }
    if (layers.empty()) {
      continue;
    }
    const double memory = memory_of(compile::recompute_between_checkpoints(layers).run(step));
    if (memory < least) {
      least = memory;
      best = std::move(layers);
    }
  }
  return best;
}

Graph with_recomputation(const Graph& step) {
  const std::vector<std::string> layers = best_checkpoints(step);
  return layers.empty() ? step : compile::recompute_between_checkpoints(layers).run(step);
}

}  // namespace cosmic::machine
