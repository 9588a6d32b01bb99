#include "artifact/plan_bytes.hpp"

#include <stdexcept>

#include "artifact/byte_stream.hpp"
#include "artifact/op_bytes.hpp"
#include "core/error.hpp"

namespace cosmic::artifact {
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

// Far more parts than any machine is made of; who sums up by stage makes a list that long.
constexpr std::int64_t kMostStages = 4096;

void write_id(ByteWriter& out, ValueId id) {
  out.u32(static_cast<std::uint32_t>(id.index()));
}

ValueId read_id(ByteReader& in, std::size_t values) {
  const std::uint32_t index = in.u32();
  in.require(index < values, "names a value that is not there");
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
  in.require(value <= static_cast<std::uint8_t>(last), "has a number that stands for nothing");
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
  in.require(node.stage >= 0 && node.stage < kMostStages, "has a stage that no machine has");
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
  const auto& [rounding, seed, runs, partials] = numerics;
  out.u8(static_cast<std::uint8_t>(rounding));
  out.u64(seed);
  out.u8(runs ? 1 : 0);
  if (runs) {
    write_id(out, *runs);
  }
  out.u8(static_cast<std::uint8_t>(partials));
}

graph::Numerics read_numerics(ByteReader& in, std::size_t values) {
  graph::Numerics numerics;
  numerics.rounding = read_enumerator(in, Rounding::stochastic);
  numerics.seed = in.u64();
  if (read_flag(in)) {
    numerics.runs = read_id(in, values);
  }
  numerics.partials = read_enumerator(in, NumberFormat::f16);
  return numerics;
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
    write_id(out, update.state);
    write_id(out, update.value);
  }
  out.u8(graph.guard ? 1 : 0);
  if (graph.guard) {
    write_id(out, *graph.guard);
  }
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
  graph.updates.resize(in.count(2 * kIdBytes));
  for (graph::StateUpdate& update : graph.updates) {
    update.state = read_id(in, nodes);
    update.value = read_id(in, nodes);
  }
  if (read_flag(in)) {
    graph.guard = read_id(in, nodes);
  }
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

Plan read_plan(ByteReader& in) {
  Plan plan;
  plan.graph = read_graph(in);
  const std::size_t values = plan.graph.size();
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
  [[maybe_unused]] const auto& [graph, placements, overwrites, arena_bytes, peak_live_bytes, passes,
                                planning_seconds, origin] = plan;
  ByteWriter out;
  write_graph(out, graph);
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
  ByteReader in(bytes);
  Plan plan = read_plan(in);
  try {
    graph::verify(plan.graph);
    compile::verify(plan);
  } catch (const InternalError& error) {
    // Where a pass made the program this would be our bug; here it is the file's.
    throw DataError(std::string("holds a program that cannot be run: ") + error.what());
  }
  return plan;
}

}  // namespace cosmic::artifact
