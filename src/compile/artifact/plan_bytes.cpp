#include "compile/artifact/plan_bytes.hpp"

#include <stdexcept>

#include "compile/artifact/op_bytes.hpp"
#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"
#include "core/error.hpp"

namespace cosmic::compile::artifact {
namespace {

using compile::Placement;
using compile::Plan;
using graph::Graph;
using graph::Node;
using graph::ValueId;

// The least bytes of one of each: a lie about their number costs no more memory than the file has.
constexpr std::size_t kIdBytes = sizeof(std::uint32_t);
constexpr std::size_t kTextBytes = sizeof(std::uint64_t);
constexpr std::size_t kNodeBytes = 4 * kTextBytes;
constexpr std::size_t kNamedValueBytes = kTextBytes + kIdBytes;
constexpr std::size_t kStepBytes = kIdBytes + kTextBytes;

// Far more parts than any machine is made of; who sums up by stage makes a list that long.
constexpr std::int64_t kMostStages = 4096;

void write_id(ByteWriter& out, ValueId id) {
  out.u32(static_cast<std::uint32_t>(id.index()));
}

ValueId read_id(ByteReader& in, std::size_t values) {
  const std::uint32_t index = in.u32();
  in.require(index < values, "refers to a value that does not exist");
  return ValueId(index);
}

void write_named(ByteWriter& out, const std::vector<graph::NamedValue>& named) {
  out.count(named.size());
  for (const graph::NamedValue& value : named) {
    out.text(value.name);
    write_id(out, value.value);
  }
}

std::vector<graph::NamedValue> read_named(ByteReader& in, std::size_t values) {
  std::vector<graph::NamedValue> named(in.count(kNamedValueBytes));
  for (graph::NamedValue& value : named) {
    value.name = in.text();
    value.value = read_id(in, values);
  }
  return named;
}

/// An enumerator that has no word, as its number.
template <class Enum>
Enum read_enumerator(ByteReader& in, Enum last) {
  const std::uint8_t value = in.u8();
  in.require(value <= static_cast<std::uint8_t>(last), "has an invalid enumeration value");
  return static_cast<Enum>(value);
}

bool read_flag(ByteReader& in) {
  return read_enumerator(in, std::uint8_t{1}) == 1;
}

// Structs are taken apart by number, so that a member that is added stops this from compiling until
// it is written, and read, as well.

void write_node(ByteWriter& out, const Node& node) {
  const auto& [op, operands, type, name, stored, layout, format, stage] = node;
  write_op(out, op);
  out.count(operands.size());
  for (const ValueId operand : operands) {
    write_id(out, operand);
  }
  write_type(out, type);
  out.text(name);
  out.u8(stored ? 1 : 0);
  write_layout(out, layout);
  out.u8(static_cast<std::uint8_t>(format));
  out.i64(stage);
}

Node read_node(ByteReader& in, std::size_t values_before) {
  Node node{read_op(in), {}, {}, {}};
  node.operands.resize(in.count(kIdBytes));
  for (ValueId& operand : node.operands) {
    operand = read_id(in, values_before);
  }
  node.type = read_type(in);
  node.name = in.text();
  node.stored = read_flag(in);
  node.layout = read_layout(in);
  node.format = read_enumerator(in, NumberFormat::f16);
  node.stage = in.i64();
  in.require(node.stage >= 0 && node.stage < kMostStages, "has an invalid stage");
  return node;
}

void write_states(ByteWriter& out, const std::vector<graph::StateVariable>& states) {
  out.count(states.size());
  for (const graph::StateVariable& state : states) {
    const auto& [name, value, kind, initializer] = state;
    out.text(name);
    write_id(out, value);
    out.u8(static_cast<std::uint8_t>(kind));
    const auto& [initializer_kind, number] = initializer;
    out.u8(static_cast<std::uint8_t>(initializer_kind));
    out.real(number);
  }
}

std::vector<graph::StateVariable> read_states(ByteReader& in, std::size_t values) {
  std::vector<graph::StateVariable> states(in.count(kNamedValueBytes));
  for (graph::StateVariable& state : states) {
    state.name = in.text();
    state.value = read_id(in, values);
    state.kind = read_enumerator(in, graph::StateKind::optimizer);
    state.initializer.kind = read_enumerator(in, graph::Initializer::Kind::uniform);
    state.initializer.value = in.real();
  }
  return states;
}

void write_numerics(ByteWriter& out, const graph::Numerics& numerics) {
  const auto& [rounding, seed, runs, partials, tf32, narrow_factors] = numerics;
  out.u8(static_cast<std::uint8_t>(rounding));
  out.u64(seed);
  out.u8(runs ? 1 : 0);
  if (runs) {
    write_id(out, *runs);
  }
  out.u8(static_cast<std::uint8_t>(partials));
  out.u8(tf32 ? 1 : 0);
  out.u8(narrow_factors ? 1 : 0);
}

graph::Numerics read_numerics(ByteReader& in, std::size_t values) {
  graph::Numerics numerics;
  numerics.rounding = read_enumerator(in, Rounding::stochastic);
  numerics.seed = in.u64();
  if (read_flag(in)) {
    numerics.runs = read_id(in, values);
  }
  numerics.partials = read_enumerator(in, NumberFormat::f16);
  numerics.tf32 = read_flag(in);
  numerics.narrow_factors = read_flag(in);
  return numerics;
}

void write_guard(ByteWriter& out, const std::optional<ValueId>& guard) {
  out.u8(guard ? 1 : 0);
  if (guard) {
    write_id(out, *guard);
  }
}

std::optional<ValueId> read_guard(ByteReader& in, std::size_t values) {
  return read_flag(in) ? std::optional(read_id(in, values)) : std::nullopt;
}

void write_graph(ByteWriter& out, const Graph& graph) {
  out.count(graph.size());
  for (const Node& node : graph.nodes()) {
    write_node(out, node);
  }
  write_named(out, graph.inputs);
  write_named(out, graph.outputs);
  write_states(out, graph.states);
  out.count(graph.updates.size());
  for (const graph::StateUpdate& update : graph.updates) {
    const auto& [state, value, guard] = update;
    write_id(out, state);
    write_id(out, value);
    out.u8(static_cast<std::uint8_t>(guard));
  }
  write_guard(out, graph.guard);
  write_guard(out, graph.gradient_guard);
  write_numerics(out, graph.numerics);
}

Graph read_graph(ByteReader& in) {
  Graph graph;
  const std::size_t nodes = in.count(kNodeBytes);
  for (std::size_t i = 0; i < nodes; ++i) {
    graph.append(read_node(in, i));
  }
  graph.inputs = read_named(in, nodes);
  graph.outputs = read_named(in, nodes);
  graph.states = read_states(in, nodes);
  graph.updates.resize(in.count(2 * kIdBytes + 1));
  for (graph::StateUpdate& update : graph.updates) {
    update.state = read_id(in, nodes);
    update.value = read_id(in, nodes);
    update.guard = read_enumerator(in, graph::Guard::gradients);
  }
  graph.guard = read_guard(in, nodes);
  graph.gradient_guard = read_guard(in, nodes);
  graph.numerics = read_numerics(in, nodes);
  return graph;
}

void write_placement(ByteWriter& out, const Placement& placement) {
  const auto& [offset, bytes, first, last] = placement;
  out.i64(offset);
  out.i64(bytes);
  out.u64(first);
  out.u64(last);
}

Placement read_placement(ByteReader& in) {
  Placement placement;
  placement.offset = in.i64();
  placement.bytes = in.i64();
  placement.first = in.u64();
  placement.last = in.u64();
  return placement;
}

// How a value is computed follows from the graph, so that expressions are not written but made
// again.

void write_computed(ByteWriter& out, const compile::Computed& computed) {
  [[maybe_unused]] const auto& [value, expression, rounded] = computed;
  write_id(out, value);
  out.u8(static_cast<std::uint8_t>(rounded));
}

/// `next` is the lowest value that can come. Each comes once: an expression is larger than what
/// stands for it here, and a file could ask for millions of them.
compile::Computed read_computed(ByteReader& in, const Graph& graph, std::size_t& next) {
  compile::Computed computed;
  computed.value = read_id(in, graph.size());
  in.require(computed.value.index() >= next, "computes a value twice or out of order");
  next = computed.value.index() + 1;
  computed.expression = compile::expression_of(graph, computed.value);
  computed.rounded = read_enumerator(in, compile::RoundedWhen::complete);
  return computed;
}

void write_steps(ByteWriter& out, const compile::StepList& list) {
  const auto& [steps, groups] = list;
  out.count(steps.size());
  for (const compile::Step& step : steps) {
    const auto& [leader, riders, fixed, fixed_operands] = step;
    write_computed(out, leader);
    out.count(riders.size());
    for (const auto& [computed, ride] : riders) {
      write_computed(out, computed);
      out.u8(static_cast<std::uint8_t>(ride));
    }
    out.u8(fixed ? 1 : 0);
    out.u32(fixed_operands);
  }
  out.count(groups.size());
  for (const auto& [first, last, parts] : groups) {
    out.u64(first);
    out.u64(last);
    out.i64(parts);
  }
}

compile::StepList read_steps(ByteReader& in, const Graph& graph) {
  compile::StepList list;
  std::size_t next = 0;
  list.steps.resize(in.count(kStepBytes));
  for (compile::Step& step : list.steps) {
    step.leader = read_computed(in, graph, next);
    step.riders.resize(in.count(kIdBytes));
    for (compile::Rider& rider : step.riders) {
      rider.computed = read_computed(in, graph, next);
      rider.ride = read_enumerator(in, compile::Ride::shares_operand);
    }
    step.fixed = read_flag(in);
    step.fixed_operands = in.u32();
  }
  list.groups.resize(in.count(kStepBytes));
  for (compile::StepGroup& group : list.groups) {
    group.first = in.u64();
    group.last = in.u64();
    group.parts = in.i64();
  }
  return list;
}

Plan read_plan(ByteReader& in) {
  Plan plan;
  plan.graph = read_graph(in);
  const std::size_t values = plan.graph.size();
  plan.steps = read_steps(in, plan.graph);
  plan.placements.resize(values);
  plan.overwrites.resize(values);
  for (std::size_t i = 0; i < values; ++i) {
    if (read_flag(in)) {
      plan.placements[i] = read_placement(in);
    }
    if (read_flag(in)) {
      plan.overwrites[i] = read_id(in, values);
    }
  }
  plan.arena_bytes = in.i64();
  plan.peak_live_bytes = in.i64();
  in.require_end();
  return plan;
}

}  // namespace

std::string graph_bytes(const Graph& graph) {
  ByteWriter out;
  write_graph(out, graph);
  return out.take();
}

std::string plan_bytes(const Plan& plan) {
  [[maybe_unused]] const auto& [graph, steps, placements, overwrites, arena_bytes, peak_live_bytes,
                                passes, planning_seconds, origin] = plan;
  ByteWriter out;
  write_graph(out, graph);
  write_steps(out, steps);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    out.u8(placements[i] ? 1 : 0);
    if (placements[i]) {
      write_placement(out, *placements[i]);
    }
    out.u8(overwrites[i] ? 1 : 0);
    if (overwrites[i]) {
      write_id(out, *overwrites[i]);
    }
  }
  out.i64(arena_bytes);
  out.i64(peak_live_bytes);
  return out.take();
}

Plan plan_of(std::string_view bytes) {
  ByteReader in(bytes, "holds a program that", "it is damaged; compile it again");
  try {
    Plan plan = read_plan(in);
    graph::verify(plan.graph);
    compile::verify(plan);
    return plan;
  } catch (const InternalError& error) {
    // Where a pass made the program this would be our bug; here it is the file's.
    throw DataError(std::string("holds a program that cannot be run: ") + error.what());
  }
}

}  // namespace cosmic::compile::artifact
