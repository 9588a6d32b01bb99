// The program: a list of nodes in execution order, each an op applied to earlier values. Values
// have static shapes. A graph also says which values the caller provides, which live on as state
// between runs, which are handed back, and what each state becomes at the end of a run.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/number_format.hpp"
#include "graph/all_ops.hpp"

namespace cosmic::graph {

struct Node {
  AnyOp op;
  std::vector<ValueId> operands;
  TensorType type;
  std::string name;  ///< for people: the layer it belongs to
  /// A value that is not stored has no buffer: whoever reads it recomputes it from what is stored.
  /// Only local ops may be so marked; a pass of the compiler decides.
  bool stored = true;
  Layout layout = Layout::plain;
  /// Ops compute in float32; a stored value is rounded to this format when it is written. How much
  /// memory that saves is the target's business. Only floats have another than f32.
  NumberFormat format = NumberFormat::f32;
  /// Where a program is spread over several parts of a machine: the part that runs this node.
  std::int64_t stage = 0;
};

/// How a state looks before anyone has trained it.
struct Initializer {
  enum class Kind { constant, uniform };

  Kind kind = Kind::constant;
  double value = 0;  ///< the constant, or the bound of a uniform in [-value, value)

  static Initializer constant(double value) { return {Kind::constant, value}; }
  static Initializer uniform(double bound) { return {Kind::uniform, bound}; }
};

/// parameter: learnt by gradient. buffer: observed (running statistics). optimizer: moments,
/// counters.
enum class StateKind { parameter, buffer, optimizer };

struct StateVariable {
  std::string name;
  ValueId value;
  StateKind kind = StateKind::parameter;
  Initializer initializer;
};

struct NamedValue {
  std::string name;
  ValueId value;
};

/// What must be finite for a state to take its update.
enum class Guard {
  loss,       ///< Graph::guard
  gradients,  ///< Graph::gradient_guard
};

/// At the end of a run the state takes this value.
struct StateUpdate {
  ValueId state;
  ValueId value;
  Guard guard = Guard::loss;
};

/// How a program rounds and adds up; what formats its values have is said by its nodes.
struct Numerics {
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;       ///< of stochastic rounding
  std::optional<ValueId> runs;  ///< a state that counts runs, so that each rounds differently
  /// What the products of a convolution or a matrix product are added up in; see partials_of.
  NumberFormat partials = NumberFormat::f32;
  /// Are float32 factors of products rounded to tf32? See takes_tf32.
  bool tf32 = false;
  /// Are factors of products rounded to the narrow format that both are kept in, also one that is
  /// recomputed where it is read and hence was never written? So do product units. See
  /// factor_rounding_of.
  bool narrow_factors = false;
};

/// Products that are added up in float32 before a sum in a narrower format takes them in: as many
/// as a machine's product unit takes at once.
inline constexpr std::int64_t kPartialsGroup = 16;

class Graph {
 public:
  // Written in graph.cpp, so that copying all that a graph holds is compiled once.
  Graph();
  Graph(const Graph& other);
  Graph(Graph&& other) noexcept;
  Graph& operator=(const Graph& other);
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  const Node& node(ValueId id) const { return nodes_.at(id.index()); }
  Node& node(ValueId id) { return nodes_.at(id.index()); }
  const TensorType& type(ValueId id) const { return node(id).type; }
  std::size_t size() const { return nodes_.size(); }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Appends without any check; Builder is the checked way in.
  ValueId append(Node node);

  std::vector<NamedValue> inputs;
  std::vector<NamedValue> outputs;
  std::vector<StateVariable> states;
  std::vector<StateUpdate> updates;
  /// An output of one float, such as the loss: where it is not finite, no state takes its update,
  /// and the state is as if the run had not been. Always if there is none.
  std::optional<ValueId> guard;
  /// Likewise, for updates that say so (StateUpdate::guard): not finite where some gradient is not,
  /// or the loss. A program that scales its loss has one, so that it can go on with another scale.
  std::optional<ValueId> gradient_guard;
  Numerics numerics;

  /// Throw InternalError when there is none of that name.
  const NamedValue& output(const std::string& name) const;
  const StateVariable& state(const std::string& name) const;

 private:
  std::vector<Node> nodes_;
};

/// The op of a node if it is a Wanted, else null.
template <class Wanted>
const Wanted* op_if(const Node& node) {
  return std::get_if<Wanted>(&node.op);
}

/// Calls visit(id, node) for every node in execution order.
template <class Visit>
void for_each_node(const Graph& graph, const Visit& visit) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    visit(ValueId(i), graph.nodes()[i]);
  }
}

/// The values each value is read by, once per operand position; outputs and updates are not
/// counted.
std::vector<std::vector<ValueId>> readers_of(const Graph& graph);

/// The number that must be finite for this update to be made; none if it always is.
std::optional<ValueId> guard_of(const Graph& graph, const StateUpdate& update);

/// Is this value part of what comes after all gradients are there, if the program says when?
bool follows_gradients(const Graph& graph, ValueId id);

/// Bytes of a value in its format, row-major.
std::int64_t bytes_of(const Node& node);

/// What the products of this node are added up in: the program's choice if both factors are as
/// narrow, float32 otherwise; no machine multiplies in float32 and adds up in less.
///
/// Narrow sums are kept so: the products of a group are added up in float32, the group is added to
/// the running sum, and that is rounded as values are. A bias and an addend are added in float32
/// when the sum is complete. The groups, in order:
///   conv, conv_transpose   for each kernel position, row-major, 16 input channels at a time
///   conv_kernel_gradient   for each row of dy, image after image, 16 pixels at a time
///   matmul                 16 at a time along the inner dimension
NumberFormat partials_of(const Graph& graph, ValueId id);

/// Does this node round its two factors to tf32 (rounded_to_tf32) before it multiplies? Its
/// products are added up in float32; a bias and an addend are not rounded. So a target chooses its
/// kernel.
bool takes_tf32(const Graph& graph, ValueId id);

/// How a node rounds its two factors before it multiplies them.
struct FactorRounding {
  enum class To { nothing, tf32, format };

  To to = To::nothing;
  NumberFormat format = NumberFormat::f32;  ///< of To::format

  bool rounds() const { return to != To::nothing; }
  float rounded(float factor) const;
  /// From one number to the next, as a share of the number.
  double step() const;
};
FactorRounding factor_rounding_of(const Graph& graph, ValueId id);

std::vector<TensorType> operand_types(const Graph& graph, const Node& node);
Cost cost_of(const Graph& graph, ValueId id);

/// Checks everything that passes may break: operand order, arity, types against each op's own rule,
/// names, updates. Throws InternalError naming the broken node.
void verify(const Graph& graph);

/// One line per node: "%12 conv(%3, %7) stride=1x1x1 : f32[3x8x640x1024]  # initial_convolution".
std::string to_text(const Graph& graph);

}  // namespace cosmic::graph
