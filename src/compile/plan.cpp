#include "compile/plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "compile/inside.hpp"
#include "compile/last_uses.hpp"
#include "core/error.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

/// From when to when each value must be kept: from the first node that may write it to the last one
/// that may read it, where neighbours run side by side and riders run with their leaders.
struct Lifetimes {
  std::vector<std::size_t> first;
  std::vector<std::size_t> last;
  /// The node along with which it is written: itself, or its leader.
  std::vector<std::size_t> written_with;
};

/// The index of the last node that a step computes.
std::size_t end_of(const Step& step) {
  return (step.riders.empty() ? step.leader.value : step.riders.back().computed.value).index();
}

Lifetimes lifetimes(const Graph& graph, const StepList& steps,
                    const std::vector<std::size_t>& last_uses) {
  std::vector<std::size_t> own(graph.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  Lifetimes live{own, last_uses, own};
  for (const Step& step : steps.steps) {
    for (const Rider& rider : step.riders) {
      // Sums are written when the leader is done; what is written along with its result must not
      // lie where the leader still reads.
      if (rider.ride == Ride::maps_result || rider.ride == Ride::updates_state) {
        live.written_with[rider.computed.value.index()] = step.leader.value.index();
      }
    }
  }
  live.first = live.written_with;
  for (const StepGroup& group : steps.groups) {
    const std::size_t begin = steps.steps[group.first].leader.value.index();
    const std::size_t end = end_of(steps.steps[group.last]);
    for (std::size_t i = begin; i <= end; ++i) {
      live.first[i] = begin;
    }
    for (std::size_t& last : live.last) {
      last = last >= begin && last <= end ? end : last;
    }
  }
  return live;
}

bool may_overwrite_first_operand(const Node& node) {
  return overwrite_of(node.op) == graph::Overwrite::first_operand;
}

/// Is it known, when its value is computed, whether this update counts?
bool comes_after_guard(const Graph& graph, const graph::StateUpdate& update) {
  const std::optional<ValueId> guard = guard_of(graph, update);
  return !guard || *guard < update.value;
}

std::vector<std::optional<ValueId>> find_overwrites(const Graph& graph,
                                                    const std::vector<std::size_t>& last) {
  std::vector<std::optional<ValueId>> overwrites(graph.size());
  for (const graph::StateUpdate& update : graph.updates) {
    const Node& node = graph.node(update.value);
    const bool reads_state_first = !node.operands.empty() && node.operands[0] == update.state &&
                                   may_overwrite_first_operand(node);
    // Nobody may read the old value after the new one has taken its place. What is computed before
    // the guard is small, such as running statistics, and copied when all is done.
    if (is_computed_and_stored(node) && reads_state_first && comes_after_guard(graph, update) &&
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

/// Memory of one value, or of several that take it over from each other.
struct Buffer {
  Placement place;
  std::int64_t kind = 0;  ///< TargetInfo::memory_kind

  bool may_share_with(const Buffer& other) const {
    return kind == other.kind && !overlap_in_time(place, other.place);
  }
};

std::int64_t peak_live_bytes(const std::vector<Buffer>& buffers) {
  std::map<std::size_t, std::int64_t> change;
  for (const Buffer& buffer : buffers) {
    change[buffer.place.first] += buffer.place.bytes;
    change[buffer.place.last + 1] -= buffer.place.bytes;
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (const auto& [when, delta] : change) {
    live += delta;
    peak = std::max(peak, live);
  }
  return peak;
}

/// The lowest offset at which `wanted` fits between the already placed buffers that it may not
/// share memory with.
std::int64_t lowest_offset(const Buffer& wanted, const std::vector<const Buffer*>& placed) {
  std::vector<const Placement*> neighbours;
  for (const Buffer* other : placed) {
    if (!wanted.may_share_with(*other)) {
      neighbours.push_back(&other->place);
    }
  }
  std::sort(neighbours.begin(), neighbours.end(),
            [](const Placement* a, const Placement* b) { return a->offset < b->offset; });
  std::int64_t offset = 0;
  for (const Placement* other : neighbours) {
    if (offset + wanted.place.bytes <= other->offset) {
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
/// What is born early, with the leader of its step, must leave alone what the leader reads.
std::vector<std::optional<ValueId>> find_heirs(const Graph& graph, const TargetInfo& target,
                                               const Lifetimes& live,
                                               const std::vector<std::size_t>& last,
                                               const std::vector<std::optional<Placement>>& placed,
                                               const std::vector<std::optional<Inside>>& inside) {
  std::vector<std::optional<ValueId>> ancestors(graph.size());
  std::vector<bool> inherited(graph.size(), false);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (inside[i]) {  // neither what lies in another value nor that other one gives way to anybody
      inherited[i] = true;
      inherited[inside[i]->whole.index()] = true;
    }
  }
  for_each_node(graph, [&](ValueId id, const Node& node) {
    const std::size_t i = id.index();
    // A slice that may lie in what it is taken from does, at its own place there.
    if (!placed[i] || inherited[i] || op_if<graph::Slice>(node) != nullptr) {
      return;
    }
    std::vector<ValueId> leaves;
    collect_leaves(graph, id, leaves);
    for (const ValueId leaf : leaves) {
      const std::size_t l = leaf.index();
      const bool leader_may_read_it = live.written_with[i] < i && l < live.written_with[i];
      if (placed[l] && !inherited[l] && last[l] == i && placed[l]->bytes == placed[i]->bytes &&
          !leader_may_read_it && target.can_write_over(graph, id, leaf)) {
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
  StepList steps = make_steps(graph, target);
  const std::vector<std::size_t> last = last_uses(graph);
  const Lifetimes live = lifetimes(graph, steps, last);
  plan.overwrites = find_overwrites(graph, last);
  plan.placements.resize(graph.size());
  std::vector<std::size_t> order;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    const std::size_t i = id.index();
    if (is_computed_and_stored(node) && !plan.overwrites[i]) {
      plan.placements[i] = Placement{0, round_up(target.storage_bytes(node), target.alignment),
                                     live.first[i], live.last[i]};
      order.push_back(i);
    }
  });
  // What lies in another value needs that one's memory, from the first of them to the last.
  const auto inside = choose_inside(graph, target);
  for (const std::size_t i : order) {
    if (inside[i]) {
      Placement& whole = *plan.placements[inside[i]->whole.index()];
      whole.first = std::min(whole.first, plan.placements[i]->first);
      whole.last = std::max(whole.last, plan.placements[i]->last);
    }
  }
  // An heir and its ancestors are one buffer that lives from the first of them to the last.
  const auto ancestors = find_heirs(graph, target, live, last, plan.placements, inside);
  std::vector<Buffer> buffers;
  std::vector<std::size_t> buffer_of(graph.size());
  for (const std::size_t i : order) {
    Placement& placement = *plan.placements[i];
    if (inside[i]) {
      continue;
    }
    if (ancestors[i]) {
      buffer_of[i] = buffer_of[ancestors[i]->index()];
      buffers[buffer_of[i]].place.last = placement.last;
      plan.placements[ancestors[i]->index()]->last = i - 1;
      placement.first = i;
    } else {
      buffer_of[i] = buffers.size();
      buffers.push_back({placement, target.memory_kind(graph, ValueId(i))});
    }
  }
  plan.peak_live_bytes = peak_live_bytes(buffers);
  std::vector<Buffer*> largest_first;
  for (Buffer& buffer : buffers) {
    largest_first.push_back(&buffer);
  }
  std::stable_sort(
      largest_first.begin(), largest_first.end(),
      [](const Buffer* a, const Buffer* b) { return a->place.bytes > b->place.bytes; });
  std::vector<const Buffer*> placed;
  for (Buffer* buffer : largest_first) {
    buffer->place.offset = lowest_offset(*buffer, placed);
    plan.arena_bytes = std::max(plan.arena_bytes, buffer->place.offset + buffer->place.bytes);
    placed.push_back(buffer);
  }
  for (const std::size_t i : order) {
    const std::size_t whole = inside[i] ? inside[i]->whole.index() : i;
    plan.placements[i]->offset =
        buffers[buffer_of[whole]].place.offset + (inside[i] ? inside[i]->offset : 0);
    if (inside[i]) {  // its whole has the room that the target asks for
      plan.placements[i]->bytes = target.storage_bytes(graph.nodes()[i]);
    }
  }
  plan.graph = std::move(graph);
  plan.steps = std::move(steps);
  return plan;
}

const graph::StateUpdate* update_in_place(const Plan& plan, ValueId value) {
  const std::vector<graph::StateUpdate>& updates = plan.graph.updates;
  const auto found =
      std::find_if(updates.begin(), updates.end(), [&](const graph::StateUpdate& update) {
        return update.value == value && plan.overwrites[value.index()] == update.state;
      });
  return found == updates.end() ? nullptr : &*found;
}

namespace {

std::string label(std::size_t value) {
  return "%" + std::to_string(value);
}

/// The value whose buffer another one takes over where it dies, if `value` is such.
bool gives_way_to(const Plan& plan, std::size_t value, std::size_t heir) {
  return heir < plan.graph.size() && plan.placements[heir] &&
         plan.placements[heir]->offset == plan.placements[value]->offset &&
         plan.placements[heir]->bytes == plan.placements[value]->bytes &&
         plan.placements[value]->last + 1 == heir;
}

void verify_overwrite(const Plan& plan, std::size_t value, const std::vector<std::size_t>& last) {
  const Graph& graph = plan.graph;
  const ValueId state = *plan.overwrites[value];
  const graph::StateUpdate* const update = update_in_place(plan, ValueId(value));
  COSMIC_REQUIRE(InternalError,
                 update != nullptr && may_overwrite_first_operand(graph.nodes()[value]) &&
                     graph.nodes()[value].operands[0] == state && last[state.index()] <= value &&
                     comes_after_guard(graph, *update) && !plan.placements[value],
                 "value " << label(value) << " is to overwrite " << label(state.index())
                          << " (it is not its update, somebody reads the old value later, or it is "
                             "not known yet whether updates count)");
}

void verify_placement(const Plan& plan, std::size_t value, std::size_t last_use) {
  const Placement& place = *plan.placements[value];
  const Node& node = plan.graph.nodes()[value];
  // A target may keep a narrow format in as little as the format needs.
  const std::int64_t needed = node.format == NumberFormat::f32
                                  ? node.type.bytes()
                                  : node.type.elements() * bytes_of(node.format);
  COSMIC_REQUIRE(InternalError,
                 place.offset >= 0 && place.bytes >= needed && place.offset <= plan.arena_bytes &&
                     place.bytes <= plan.arena_bytes - place.offset,
                 "value " << label(value) << " has " << place.bytes << " bytes at offset "
                          << place.offset << " (it needs " << needed << " within an arena of "
                          << plan.arena_bytes << ")");
  COSMIC_REQUIRE(InternalError,
                 place.first <= value && place.last >= value && place.last <= plan.graph.size() &&
                     (place.last >= last_use || gives_way_to(plan, value, last_use)),
                 "value " << label(value) << " lives from node " << place.first << " to "
                          << place.last << " (it is written by node " << value
                          << " and last read by node " << last_use << ")");
}

/// Goes through the buffers in the order of their birth and keeps those that live, by offset: a new
/// one can only collide with its neighbours there.
void verify_no_collisions(const Plan& plan) {
  std::map<std::int64_t, std::size_t> alive;             // offset to value
  std::multimap<std::size_t, std::size_t> end_of_value;  // last node to value
  const auto require_apart = [&](std::size_t a, std::size_t b) {
    const Placement& first = *plan.placements[a];
    const Placement& second = *plan.placements[b];
    COSMIC_REQUIRE(
        InternalError,
        first.offset + first.bytes <= second.offset || second.offset + second.bytes <= first.offset,
        "values " << label(std::min(a, b)) << " and " << label(std::max(a, b))
                  << " live at the same time in the same memory (offsets " << first.offset
                  << " and " << second.offset << ")");
  };
  const auto inside = values_inside(plan);
  std::vector<std::size_t> by_birth;  // of nodes that run side by side, none is first
  for (std::size_t value = 0; value < plan.placements.size(); ++value) {
    if (plan.placements[value] && plan.placements[value]->bytes > 0 && !inside[value]) {
      by_birth.push_back(value);
    }
  }
  std::stable_sort(by_birth.begin(), by_birth.end(), [&](std::size_t a, std::size_t b) {
    return plan.placements[a]->first < plan.placements[b]->first;
  });
  for (const std::size_t value : by_birth) {
    while (!end_of_value.empty() && end_of_value.begin()->first < plan.placements[value]->first) {
      alive.erase(plan.placements[end_of_value.begin()->second]->offset);
      end_of_value.erase(end_of_value.begin());
    }
    const auto next = alive.lower_bound(plan.placements[value]->offset);
    if (next != alive.end()) {
      require_apart(next->second, value);
    }
    if (next != alive.begin()) {
      require_apart(std::prev(next)->second, value);
    }
    alive.emplace(plan.placements[value]->offset, value);
    end_of_value.emplace(plan.placements[value]->last, value);
  }
}

}  // namespace

void verify(const Plan& plan) {
  const Graph& graph = plan.graph;
  COSMIC_REQUIRE(InternalError,
                 plan.placements.size() == graph.size() && plan.overwrites.size() == graph.size() &&
                     plan.arena_bytes >= 0,
                 "a plan of " << graph.size() << " values has " << plan.placements.size()
                              << " placements and " << plan.overwrites.size()
                              << " overwrites in an arena of " << plan.arena_bytes << " bytes");
  verify(plan.steps, graph);
  const std::vector<std::size_t> last = last_uses(graph);
  for (std::size_t value = 0; value < graph.size(); ++value) {
    const bool wants_place = is_computed_and_stored(graph.nodes()[value]);
    if (plan.overwrites[value]) {
      verify_overwrite(plan, value, last);
    } else {
      COSMIC_REQUIRE(InternalError, wants_place == plan.placements[value].has_value(),
                     "value " << label(value)
                              << (wants_place ? " has no place in the arena"
                                              : " has a place in the arena but is not kept there"));
    }
    if (plan.placements[value]) {
      verify_placement(plan, value, last[value]);
    }
  }
  verify_no_collisions(plan);
}

void verify(const Plan& plan, const TargetInfo& target) {
  verify(plan);
  COSMIC_REQUIRE(InternalError, plan.steps == make_steps(plan.graph, target),
                 "the steps of the plan are not those that target '"
                     << target.name << "' asks for (" << plan.steps.steps.size() << " steps)");
  const std::vector<std::size_t> last = last_uses(plan.graph);
  for_each_node(plan.graph, [&](ValueId id, const Node& node) {
    const std::size_t value = id.index();
    if (!plan.placements[value]) {
      return;
    }
    const Placement& place = *plan.placements[value];
    COSMIC_REQUIRE(
        InternalError,
        place.bytes >= target.storage_bytes(node) && place.offset % target.alignment == 0,
        "value " << label(value) << " has " << place.bytes << " bytes at offset " << place.offset
                 << " (target '" << target.name << "' needs " << target.storage_bytes(node)
                 << " at a multiple of " << target.alignment << ")");
    COSMIC_REQUIRE(
        InternalError,
        place.last >= last[value] || target.can_write_over(plan.graph, ValueId(last[value]), id),
        "value " << label(last[value]) << " is to be written over " << label(value)
                 << ", which it reads (target '" << target.name << "' cannot do that)");
  });
}

}  // namespace cosmic::compile
