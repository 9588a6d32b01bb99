#include "compile/stages.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "compile/layer_names.hpp"
#include "core/error.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// What a machine computes while it moves a byte. Machines differ, between about 5 (a processor) and
// 100; a cut that is good for one is good for the others, because convolutions are most of both.
constexpr double kFlopsPerByte = 10;

double weight(const graph::Cost& cost) {
  return std::max(cost.flops, kFlopsPerByte * cost.bytes);
}

/// States live with who reads them first.
void place_states(Graph& graph) {
  std::vector<bool> placed(graph.size(), false);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& reader = graph.nodes()[i];
    for (const ValueId operand : reader.operands) {
      Node& node = graph.node(operand);
      if (!is_work(node) && !placed[operand.index()]) {
        node.stage = reader.stage;
        placed[operand.index()] = true;
      }
    }
  }
}

/// The longest name that the layer belongs to decides, so that a stage may take a block out of
/// another's.
std::optional<std::int64_t> named_stage(const std::vector<std::vector<std::string>>& blocks,
                                        const std::string& layer) {
  std::optional<std::int64_t> stage;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const std::string& block : blocks[i]) {
      if (belongs_to(layer, block) && block.size() >= longest) {
        stage = static_cast<std::int64_t>(i);
        longest = block.size();
      }
    }
  }
  return stage;
}

/// Consecutive nodes of one layer: a cut never goes through a layer.
struct LayerRun {
  std::vector<ValueId> nodes;
  double weight = 0;
};

std::vector<LayerRun> layer_runs(const Graph& graph) {
  std::vector<LayerRun> runs;
  std::string name;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (!is_work(node)) {
      return;
    }
    if (runs.empty() || node.name != name) {
      runs.emplace_back();
      name = node.name;
    }
    runs.back().nodes.push_back(id);
    runs.back().weight += weight(graph::cost_of(graph, id));
  });
  return runs;
}

/// Where each of `count` stages begins. best[s][i] is the least possible cost of the most expensive
/// stage if the first i runs are in s + 1 stages.
std::vector<std::size_t> balanced_cuts(const std::vector<LayerRun>& runs, std::size_t count) {
  const std::size_t n = runs.size();
  std::vector<double> before(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    before[i + 1] = before[i] + runs[i].weight;
  }
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(count, std::vector<double>(n + 1, infinite));
  std::vector<std::vector<std::size_t>> cut(count, std::vector<std::size_t>(n + 1, 0));
  best[0] = before;
  for (std::size_t stage = 1; stage < count; ++stage) {
    for (std::size_t end = stage + 1; end <= n; ++end) {
      for (std::size_t begin = stage; begin < end; ++begin) {
        const double most = std::max(best[stage - 1][begin], before[end] - before[begin]);
        if (most < best[stage][end]) {
          best[stage][end] = most;
          cut[stage][end] = begin;
        }
      }
    }
  }
  std::vector<std::size_t> begins(count, 0);
  std::size_t end = n;
  for (std::size_t stage = count; stage-- > 1;) {
    end = begins[stage] = cut[stage][end];
  }
  return begins;
}

}  // namespace

void assign_stages(Graph& forward, const std::vector<std::vector<std::string>>& blocks) {
  for (const std::vector<std::string>& stage : blocks) {
    for (const std::string& block : stage) {
      require_block(forward, "stages", block);
    }
  }
  std::vector<bool> used(blocks.size(), false);
  std::int64_t stage = 0;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    Node& node = forward.node(ValueId(i));
    if (is_work(node)) {
      stage = named_stage(blocks, node.name).value_or(stage);
      node.stage = stage;
      used[static_cast<std::size_t>(stage)] = true;
    }
  }
  const auto idle = std::find(used.begin(), used.end(), false);
  COSMIC_REQUIRE(UserError, idle == used.end(),
                 "stage " << idle - used.begin() << " of stages, '"
                          << blocks[static_cast<std::size_t>(idle - used.begin())].front()
                          << "', gets no layer (other stages name all blocks inside it); leave it "
                             "out");
  place_states(forward);
}

void assign_stages(Graph& forward, std::int64_t count) {
  const std::vector<LayerRun> runs = layer_runs(forward);
  COSMIC_REQUIRE(UserError, count <= static_cast<std::int64_t>(runs.size()),
                 "automatic_stages is " << count << ", but this model has only " << runs.size()
                                        << " layers (a stage needs at least one); use fewer");
  const std::vector<std::size_t> begins = balanced_cuts(runs, static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), i);
    for (const ValueId id : runs[i].nodes) {
      forward.node(id).stage = next - begins.begin() - 1;
    }
  }
  place_states(forward);
}

void require_one_way(const Graph& forward) {
  for_each_node(forward, [&](ValueId, const Node& node) {
    for (const ValueId operand : node.operands) {
      const Node& read = forward.node(operand);
      COSMIC_REQUIRE(UserError, !is_work(read) || read.stage <= node.stage,
                     "layer '" << node.name << "' of stage " << node.stage << " reads '"
                               << read.name << "' of stage " << read.stage
                               << " (a pipeline runs one way); put it into stage " << read.stage
                               << " or a later one, or use execution_strategy sharded");
    }
  });
}

std::vector<StageReport> stage_reports(const std::vector<const Graph*>& programs,
                                       std::int64_t count) {
  std::vector<StageReport> stages(static_cast<std::size_t>(count));
  const auto stage_of = [&](const Node& node) -> StageReport& {
    return stages[static_cast<std::size_t>(node.stage)];
  };
  std::set<std::string> known;  // states and layers: an update is named after its parameter
  for (const Graph* program : programs) {
    for (const graph::StateVariable& state : program->states) {
      if (known.insert(state.name).second) {
        const Node& node = program->node(state.value);
        stage_of(node).state_bytes += node.type.bytes();
      }
    }
    for_each_node(*program, [&](ValueId id, const Node& node) {
      StageReport& stage = stage_of(node);
      const graph::Cost cost = graph::cost_of(*program, id);
      stage.cost.flops += cost.flops;
      stage.cost.bytes += cost.bytes;
      if (is_work(node) && !node.name.empty() && known.insert(node.name).second) {
        stage.layers.push_back(node.name);
      }
    });
  }
  return stages;
}

}  // namespace cosmic::compile
