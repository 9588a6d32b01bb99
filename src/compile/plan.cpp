#include "compile/plan.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

/// Index of the last node that needs each value in memory. A value that is not stored needs its
/// operands for as long as it is itself read.
std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    last[i] = i;
  }
  for (const graph::NamedValue& output : graph.outputs) {
    last[output.value.index()] = graph.size();
  }
  for (const graph::StateUpdate& update : graph.updates) {
    last[update.value.index()] = graph.size();
  }
  for (std::size_t i = graph.size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const std::size_t needed_until = node.stored ? i : last[i];
    for (const ValueId operand : node.operands) {
      last[operand.index()] = std::max(last[operand.index()], needed_until);
    }
  }
  return last;
}

bool lives_in_arena(const Node& node) {
  return node.stored && graph::op_if<graph::Input>(node) == nullptr &&
         graph::op_if<graph::State>(node) == nullptr;
}

/// Ops that read element i of their first operand before they write element i of their result.
bool may_overwrite_first_operand(const Node& node) {
  return graph::op_if<graph::Moment>(node) != nullptr ||
         graph::op_if<graph::AdamStep>(node) != nullptr ||
         graph::op_if<graph::RmspropStep>(node) != nullptr ||
         graph::op_if<graph::SgdStep>(node) != nullptr ||
         graph::op_if<graph::RunningUpdate>(node) != nullptr ||
         graph::op_if<graph::Increment>(node) != nullptr ||
         graph::op_if<graph::Add>(node) != nullptr;
}

std::vector<std::optional<ValueId>> find_overwrites(const Graph& graph,
                                                    const std::vector<std::size_t>& last) {
  std::vector<std::optional<ValueId>> overwrites(graph.size());
  for (const graph::StateUpdate& update : graph.updates) {
    const Node& node = graph.node(update.value);
    const bool reads_state_first = !node.operands.empty() && node.operands[0] == update.state &&
                                   may_overwrite_first_operand(node);
    // Nobody may read the old value after the new one has taken its place.
    if (lives_in_arena(node) && reads_state_first &&
        last[update.state.index()] <= update.value.index()) {
      overwrites[update.value.index()] = update.state;
    }
  }
  return overwrites;
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool overlap_in_time(const Placement& a, const Placement& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::int64_t peak_live_bytes(const std::vector<Placement>& buffers) {
  std::map<std::size_t, std::int64_t> change;
  for (const Placement& buffer : buffers) {
    change[buffer.first] += buffer.bytes;
    change[buffer.last + 1] -= buffer.bytes;
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (const auto& [when, delta] : change) {
    live += delta;
    peak = std::max(peak, live);
  }
  return peak;
}

/// The lowest offset at which `wanted` fits between the already placed buffers it overlaps in time.
std::int64_t lowest_offset(const Placement& wanted, const std::vector<const Placement*>& placed) {
  std::vector<const Placement*> neighbours;
  for (const Placement* other : placed) {
    if (overlap_in_time(*other, wanted)) {
      neighbours.push_back(other);
    }
  }
  std::sort(neighbours.begin(), neighbours.end(),
            [](const Placement* a, const Placement* b) { return a->offset < b->offset; });
  std::int64_t offset = 0;
  for (const Placement* other : neighbours) {
    if (offset + wanted.bytes <= other->offset) {
      break;
    }
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

/// The stored values a node reads, directly or through values that are not stored.
void collect_leaves(const Graph& graph, ValueId id, std::vector<ValueId>& leaves) {
  for (const ValueId operand : graph.node(id).operands) {
    if (graph.node(operand).stored) {
      leaves.push_back(operand);
    } else {
      collect_leaves(graph, operand, leaves);
    }
  }
}

/// For each value, the value whose buffer it takes over, if any: one that dies where it is born.
std::vector<std::optional<ValueId>> find_heirs(
    const Graph& graph, const TargetInfo& target, const std::vector<std::size_t>& last,
    const std::vector<std::optional<Placement>>& placed) {
  std::vector<std::optional<ValueId>> ancestors(graph.size());
  std::vector<bool> inherited(graph.size(), false);
  for_each_node(graph, [&](ValueId id, const Node&) {
    const std::size_t i = id.index();
    if (!placed[i]) {
      return;
    }
    std::vector<ValueId> leaves;
    collect_leaves(graph, id, leaves);
    for (const ValueId leaf : leaves) {
      const std::size_t l = leaf.index();
      if (placed[l] && !inherited[l] && last[l] == i && placed[l]->bytes == placed[i]->bytes &&
          target.can_write_over(graph, id, leaf)) {
        ancestors[i] = leaf;
        inherited[l] = true;
        return;
      }
    }
  });
  return ancestors;
}

}  // namespace

Plan plan_memory(Graph graph, const TargetInfo& target) {
  Plan plan;
  const std::vector<std::size_t> last = last_uses(graph);
  plan.overwrites = find_overwrites(graph, last);
  plan.placements.resize(graph.size());
  std::vector<std::size_t> order;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    const std::size_t i = id.index();
    if (lives_in_arena(node) && !plan.overwrites[i]) {
      plan.placements[i] =
          Placement{0, round_up(target.storage_bytes(node), target.alignment), i, last[i]};
      order.push_back(i);
    }
  });
  // An heir and its ancestors are one buffer that lives from the first of them to the last.
  const auto ancestors = find_heirs(graph, target, last, plan.placements);
  std::vector<Placement> buffers;
  std::vector<std::size_t> buffer_of(graph.size());
  for (const std::size_t i : order) {
    Placement& placement = *plan.placements[i];
    if (ancestors[i]) {
      buffer_of[i] = buffer_of[ancestors[i]->index()];
      buffers[buffer_of[i]].last = placement.last;
      plan.placements[ancestors[i]->index()]->last = i - 1;
    } else {
      buffer_of[i] = buffers.size();
      buffers.push_back(placement);
    }
  }
  plan.peak_live_bytes = peak_live_bytes(buffers);
  std::vector<Placement*> largest_first;
  for (Placement& buffer : buffers) {
    largest_first.push_back(&buffer);
  }
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [](const Placement* a, const Placement* b) { return a->bytes > b->bytes; });
  std::vector<const Placement*> placed;
  for (Placement* buffer : largest_first) {
    buffer->offset = lowest_offset(*buffer, placed);
    plan.arena_bytes = std::max(plan.arena_bytes, buffer->offset + buffer->bytes);
    placed.push_back(buffer);
  }
  for (const std::size_t i : order) {
    plan.placements[i]->offset = buffers[buffer_of[i]].offset;
  }
  plan.graph = std::move(graph);
  return plan;
}

void verify(const Plan& plan) {
  const std::size_t count = plan.placements.size();
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count && plan.placements[a]; ++b) {
      if (!plan.placements[b] || !overlap_in_time(*plan.placements[a], *plan.placements[b])) {
        continue;
      }
      const Placement& first = *plan.placements[a];
      const Placement& second = *plan.placements[b];
      COSMIC_REQUIRE(InternalError,
                     first.offset + first.bytes <= second.offset ||
                         second.offset + second.bytes <= first.offset,
                     "values %" << a << " and %" << b
                                << " live at the same time in the same memory (offsets "
                                << first.offset << " and " << second.offset << ")");
    }
  }
}

}  // namespace cosmic::compile
