#include "target/reference/evaluate.hpp"

#include <array>

#include "core/error.hpp"
#include "core/rounding_noise.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

/// Computes a node's value, except where it was given from outside. An op without a kernel does not
/// compile.
struct Compute {
  const std::vector<const Tensor*>& in;
  const graph::TensorType& type;
  const RoundSum& round;  ///< of running sums; empty where they lose nothing
  Tensor& value;

  void operator()(const graph::Input&) const {}
  void operator()(const graph::State&) const {}
  template <class Op>
  void operator()(const Op& op) const {
    if constexpr (requires { run(op, in, type, round); }) {
      if (round) {
        value = run(op, in, type, round);
        return;
      }
    }
    value = run(op, in, type);
  }
};

void place(std::vector<Tensor>& values, const graph::Graph& graph, graph::ValueId id,
           const std::string& name, const Tensor& given) {
  COSMIC_REQUIRE(InternalError,
                 given.type == graph.type(id) &&
                     static_cast<std::int64_t>(given.data.size()) == given.type.elements(),
                 "'" << name << "' is given as " << given.type << " with " << given.data.size()
                     << " elements (the graph wants " << graph.type(id) << ")");
  values[id.index()] = given;
}

/// What becomes of values when they are written.
class Writer {
 public:
  Writer(const graph::Graph& graph, const std::vector<Tensor>& values) : graph_(graph) {
    const graph::Numerics& numerics = graph.numerics;
    const double runs = numerics.runs ? values[numerics.runs->index()].data[0] : 0;
    run_noise_ = noise_of_run(numerics.seed, static_cast<std::uint64_t>(runs));
  }

  void write(graph::ValueId id, Tensor& value) const {
    const graph::Node& node = graph_.node(id);
    if (node.format == NumberFormat::f32 || !node.stored ||
        graph::op_if<graph::State>(node) != nullptr) {
      return;
    }
    for (std::size_t i = 0; i < value.data.size(); ++i) {
      value.data[i] = round(value.data[i], node.format, id.index(), i);
    }
  }

  /// What becomes of the running sums behind a value; empty if they are not rounded.
  RoundSum round_sums(graph::ValueId id) const {
    const NumberFormat partials = graph::partials_of(graph_, id);
    if (partials == NumberFormat::f32) {
      return {};
    }
    return [this, partials, id, additions = std::size_t{0}](double sum) mutable {
      return round(sum, partials, kNoiseOfPartials | id.index(), additions++);
    };
  }

 private:
  /// Element `i` of what `noise` stands for.
  double round(double number, NumberFormat format, std::uint64_t noise, std::size_t i) const {
    const auto as_float = static_cast<float>(number);
    if (graph_.numerics.rounding == Rounding::nearest) {
      return widen(narrow(as_float, format), format);
    }
    const std::uint32_t row = noise_of_row(run_noise_, noise, i / kNoiseRow);
    const std::uint32_t of_element =
        noise_of_element(row, static_cast<std::uint32_t>(i % kNoiseRow));
    return widen(narrow(as_float, format, of_element), format);
  }

  const graph::Graph& graph_;
  std::uint64_t run_noise_ = 0;
};

}  // namespace

std::vector<Tensor> evaluate(const graph::Graph& graph, std::span<const Tensor> inputs,
                             const States& states) {
  COSMIC_REQUIRE(
      InternalError, inputs.size() == graph.inputs.size(),
      inputs.size() << " inputs are given (the graph has " << graph.inputs.size() << ")");
  std::vector<Tensor> values(graph.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    place(values, graph, graph.inputs[i].value, graph.inputs[i].name, inputs[i]);
  }
  for (const graph::StateVariable& state : graph.states) {
    const auto found = states.find(state.name);
    COSMIC_REQUIRE(InternalError, found != states.end(), "state '" << state.name << "' is missing");
    place(values, graph, state.value, state.name, found->second);
  }
  const Writer writer(graph, values);
  graph::for_each_node(graph, [&](graph::ValueId id, const graph::Node& node) {
    std::vector<const Tensor*> in;
    for (const graph::ValueId operand : node.operands) {
      in.push_back(&values[operand.index()]);
    }
    std::array<Tensor, 2> factors;
    if (const graph::FactorRounding rounding = factor_rounding_of(graph, id); rounding.rounds()) {
      for (std::size_t i = 0; i < factors.size(); ++i) {
        factors[i] = rounded_factor(*in[i], rounding);
        in[i] = &factors[i];
      }
    }
    const RoundSum round = writer.round_sums(id);
    std::visit(Compute{in, node.type, round, values[id.index()]}, node.op);
    writer.write(id, values[id.index()]);
  });
  return values;
}

}  // namespace cosmic::target::reference
