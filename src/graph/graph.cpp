#include "graph/graph.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/error.hpp"

namespace cosmic::graph {
namespace {

std::string label(ValueId id) {
  return "%" + std::to_string(id.index());
}

std::string describe(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  std::string text = label(id) + " " + std::string(name_of(node.op));
  if (!node.name.empty()) {
    text += " (" + node.name + ")";
  }
  return text;
}

/// Is it a product, both of whose factors are kept in this format?
bool has_factors_in(const Graph& graph, const Node& node, NumberFormat format) {
  const bool is_product = op_if<Conv>(node) != nullptr || op_if<ConvTranspose>(node) != nullptr ||
                          op_if<ConvKernelGradient>(node) != nullptr ||
                          op_if<MatMul>(node) != nullptr;
  return is_product && graph.node(node.operands[0]).format == format &&
         graph.node(node.operands[1]).format == format;
}

void verify_node(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  for (const ValueId operand : node.operands) {
    COSMIC_REQUIRE(InternalError, operand < id,
                   "node " << describe(graph, id) << " reads " << label(operand)
                           << ", which is not computed before it (nodes run in list order); the "
                              "pass that made it must append operands first");
  }
  COSMIC_REQUIRE(InternalError, node.stored || locality_of(node.op) != Locality::whole,
                 "node " << describe(graph, id)
                         << " is marked as not stored, but its op is not local (it cannot be "
                            "recomputed row by row); only local ops may be left out of memory");
  COSMIC_REQUIRE(InternalError, node.format == NumberFormat::f32 || node.type.dtype == DType::f32,
                 "node " << describe(graph, id) << " is " << node.type << " in the format "
                         << to_string(node.format) << " (only floats can be rounded)");
  const std::vector<TensorType> in = operand_types(graph, node);
  std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        COSMIC_REQUIRE(InternalError, in.size() >= Op::arity.least && in.size() <= Op::arity.most,
                       "node " << describe(graph, id) << " has " << in.size()
                               << " operands (the op takes " << Op::arity.least << " to "
                               << Op::arity.most << ")");
        TensorType expected;
        try {
          expected = Op::infer(op, in);
        } catch (const ShapeError& error) {
          throw InternalError("node " + describe(graph, id) + ": " + error.what());
        }
        COSMIC_REQUIRE(InternalError, node.type == expected,
                       "node " << describe(graph, id) << " says it is " << node.type
                               << " but its op and operands give " << expected);
      },
      node.op);
}

void verify_boundary(const Graph& graph) {
  const auto exists = [&](ValueId id, const std::string& what) {
    COSMIC_REQUIRE(InternalError, id.index() < graph.size(),
                   what << " is " << label(id) << " (the graph has " << graph.size() << " nodes)");
  };
  std::set<std::string> names;
  std::set<ValueId> provided;
  const auto provides = [&](ValueId id, bool fits, const std::string& what) {
    COSMIC_REQUIRE(InternalError, fits && provided.insert(id).second,
                   what << " is " << describe(graph, id)
                        << " (it must be a node of that kind, and of one name)");
  };
  for (const NamedValue& input : graph.inputs) {
    exists(input.value, "input '" + input.name + "'");
    provides(input.value, op_if<Input>(graph.node(input.value)) != nullptr,
             "input '" + input.name + "'");
  }
  for (const NamedValue& output : graph.outputs) {
    exists(output.value, "output '" + output.name + "'");
    COSMIC_REQUIRE(InternalError, graph.node(output.value).stored,
                   "output '" << output.name << "' is " << describe(graph, output.value)
                              << ", which is not stored");
  }
  for (const StateVariable& state : graph.states) {
    exists(state.value, "state '" + state.name + "'");
    COSMIC_REQUIRE(InternalError, names.insert(state.name).second,
                   "two states are named '" << state.name << "'");
    provides(state.value, op_if<State>(graph.node(state.value)) != nullptr,
             "state '" + state.name + "'");
  }
  for_each_node(graph, [&](ValueId id, const Node& node) {
    const bool needs_name = op_if<Input>(node) != nullptr || op_if<State>(node) != nullptr;
    COSMIC_REQUIRE(InternalError, !needs_name || provided.contains(id),
                   "node " << describe(graph, id) << " has no name (nobody could provide it)");
  });
  std::set<ValueId> updated;
  for (const StateUpdate& update : graph.updates) {
    exists(update.state, "an updated state");
    exists(update.value, "the update of " + describe(graph, update.state));
    COSMIC_REQUIRE(InternalError,
                   op_if<State>(graph.node(update.state)) != nullptr &&
                       updated.insert(update.state).second && graph.node(update.value).stored,
                   "there is an update of " << describe(graph, update.state) << " to "
                                            << describe(graph, update.value)
                                            << " (a state takes one value, and a stored one)");
    COSMIC_REQUIRE(InternalError, update.guard != Guard::gradients || graph.gradient_guard,
                   "the update of " << describe(graph, update.state)
                                    << " waits for finite gradients (nothing in the program says "
                                       "whether they are)");
    COSMIC_REQUIRE(InternalError, graph.type(update.state) == graph.type(update.value),
                   "the update of " << describe(graph, update.state) << " is "
                                    << graph.type(update.value) << ", the state is "
                                    << graph.type(update.state));
  }
  const auto verify_guard = [&](const std::optional<ValueId>& guard, const std::string& what) {
    if (!guard) {
      return;
    }
    exists(*guard, what);
    const bool is_output =
        std::any_of(graph.outputs.begin(), graph.outputs.end(),
                    [&](const NamedValue& output) { return output.value == *guard; });
    COSMIC_REQUIRE(
        InternalError,
        is_output && graph.type(*guard).dtype == DType::f32 && graph.type(*guard).elements() == 1,
        what << " is " << describe(graph, *guard) << " (it must be an output of one float)");
  };
  verify_guard(graph.guard, "the guard of updates");
  verify_guard(graph.gradient_guard, "the guard of updates by gradients");
  if (graph.numerics.runs) {
    exists(*graph.numerics.runs, "the count of runs");
    COSMIC_REQUIRE(InternalError, (graph.type(*graph.numerics.runs) == TensorType{DType::i64, {}}),
                   "the count of runs is " << graph.type(*graph.numerics.runs)
                                           << " (a counter is an i64 scalar)");
  }
}

}  // namespace

Graph::Graph() = default;
Graph::Graph(const Graph& other) = default;
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(const Graph& other) = default;
Graph& Graph::operator=(Graph&& other) noexcept = default;
Graph::~Graph() = default;

ValueId Graph::append(Node node) {
  nodes_.push_back(std::move(node));
  return ValueId(nodes_.size() - 1);
}

const NamedValue& Graph::output(const std::string& name) const {
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const NamedValue& output) { return output.name == name; });
  COSMIC_REQUIRE(InternalError, found != outputs.end(), "no output is named '" << name << "'");
  return *found;
}

const StateVariable& Graph::state(const std::string& name) const {
  const auto found = std::find_if(states.begin(), states.end(),
                                  [&](const StateVariable& state) { return state.name == name; });
  COSMIC_REQUIRE(InternalError, found != states.end(), "no state is named '" << name << "'");
  return *found;
}

std::vector<std::vector<ValueId>> readers_of(const Graph& graph) {
  std::vector<std::vector<ValueId>> readers(graph.size());
  for_each_node(graph, [&](ValueId id, const Node& node) {
    for (const ValueId operand : node.operands) {
      readers[operand.index()].push_back(id);
    }
  });
  return readers;
}

std::optional<ValueId> guard_of(const Graph& graph, const StateUpdate& update) {
  return update.guard == Guard::gradients ? graph.gradient_guard : graph.guard;
}

bool follows_gradients(const Graph& graph, ValueId id) {
  return graph.gradient_guard && !(id < *graph.gradient_guard);
}

std::vector<TensorType> operand_types(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  types.reserve(node.operands.size());
  for (const ValueId operand : node.operands) {
    types.push_back(graph.type(operand));
  }
  return types;
}

std::int64_t bytes_of(const Node& node) {
  return node.type.dtype == DType::f32 ? node.type.elements() * bytes_of(node.format)
                                       : node.type.bytes();
}

NumberFormat partials_of(const Graph& graph, ValueId id) {
  const NumberFormat partials = graph.numerics.partials;
  return has_factors_in(graph, graph.node(id), partials) ? partials : NumberFormat::f32;
}

bool takes_tf32(const Graph& graph, ValueId id) {
  return graph.numerics.tf32 && has_factors_in(graph, graph.node(id), NumberFormat::f32);
}

float FactorRounding::rounded(float factor) const {
  switch (to) {
    case To::nothing:
      break;
    case To::tf32:
      return rounded_to_tf32(factor);
    case To::format:
      return cosmic::rounded(factor, format);
  }
  return factor;
}

double FactorRounding::step() const {
  return to == To::format && format == NumberFormat::bf16 ? 0x1p-7 : 0x1p-10;
}

FactorRounding factor_rounding_of(const Graph& graph, ValueId id) {
  if (takes_tf32(graph, id)) {
    return {FactorRounding::To::tf32};
  }
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::f16}) {
    if (graph.numerics.narrow_factors && has_factors_in(graph, graph.node(id), format)) {
      return {FactorRounding::To::format, format};
    }
  }
  return {};
}

Cost cost_of(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  const std::vector<TensorType> in = operand_types(graph, node);
  Cost cost = std::visit(
      [&](const auto& op) { return std::decay_t<decltype(op)>::cost(op, in, node.type); }, node.op);
  // Ops count each tensor once, as float32.
  const auto saved = [](const Node& n) {
    return static_cast<double>(n.type.bytes() - bytes_of(n));
  };
  if (cost.bytes > 0) {
    cost.bytes -= saved(node);
    for (const ValueId operand : node.operands) {
      cost.bytes -= saved(graph.node(operand));
    }
  }
  return cost;
}

void verify(const Graph& graph) {
  for_each_node(graph, [&](ValueId id, const Node&) { verify_node(graph, id); });
  verify_boundary(graph);
}

std::string to_text(const Graph& graph) {
  std::ostringstream text;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    text << label(id) << ' ' << name_of(node.op) << '(';
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      text << (i == 0 ? "" : ", ") << label(node.operands[i]);
    }
    text << ')';
    // Inputs, states and constants have no attribute worth reading beyond their type.
    if (const std::string fields = describe_fields(node.op);
        !fields.empty() && !node.operands.empty()) {
      text << ' ' << fields;
    }
    text << " : " << node.type;
    if (node.format != NumberFormat::f32) {
      text << " in " << to_string(node.format);
    }
    text << (node.stored ? "" : " (not stored)");
    if (!node.name.empty()) {
      text << "  # " << node.name;
    }
    text << '\n';
  });
  for (const NamedValue& output : graph.outputs) {
    text << "output " << output.name << " = " << label(output.value) << '\n';
  }
  if (graph.guard) {
    text << "updates if " << label(*graph.guard) << " is finite\n";
  }
  for (const StateUpdate& update : graph.updates) {
    text << "update " << label(update.state) << " := " << label(update.value);
    if (update.guard == Guard::gradients) {
      text << " if " << label(*graph.gradient_guard) << " is finite";
    }
    text << "  # " << graph.node(update.state).name << '\n';
  }
  return text.str();
}

}  // namespace cosmic::graph
