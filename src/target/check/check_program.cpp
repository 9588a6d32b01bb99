#include "target/check/check_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "target/check/observed_program.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::target::check {
namespace {

using graph::ValueId;
using reference::from_bytes;
using reference::Tensor;

using Bytes = std::vector<std::byte>;
using States = std::map<std::string, Bytes>;

struct Run {
  std::vector<Bytes> outputs;
  States states;  ///< afterwards
};

Run run_on(const Target& target, const compile::Plan& plan, const ProgramData& data,
           const CompileOptions& options) {
  const graph::Graph& graph = plan.graph;
  std::vector<std::pair<std::string, graph::TensorType>> types;
  for (const graph::StateVariable& state : graph.states) {
    types.emplace_back(state.name, graph.type(state.value));
  }
  const std::shared_ptr<StateBank> bank = target.make_bank(types);
  for (const auto& [name, type] : types) {
    bank->write(name, data.states.at(name));
  }
  const std::unique_ptr<Executable> executable = compile_all(target, plan, bank, options);
  Run run;
  std::vector<RunInput> inputs;
  for (const Bytes& bytes : data.inputs) {
    inputs.emplace_back(std::span<const std::byte>(bytes));
  }
  for (const graph::NamedValue& output : graph.outputs) {
    run.outputs.emplace_back(static_cast<std::size_t>(graph.type(output.value).bytes()));
  }
  std::vector<std::span<std::byte>> outputs(run.outputs.begin(), run.outputs.end());
  executable->run(inputs, outputs);
  run.states = data.states;  // other programs may have more
  for (const auto& [name, type] : types) {
    bank->read(name, run.states[name]);
  }
  return run;
}

float number_in(const Bytes& bytes) {
  float number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

/// Is this guard of updates there, and not finite?
bool is_lost(const graph::Graph& graph, const std::optional<ValueId>& guard, const Run& run) {
  for (std::size_t i = 0; guard && i < graph.outputs.size(); ++i) {
    if (graph.outputs[i].value == *guard) {
      return !std::isfinite(number_in(run.outputs[i]));
    }
  }
  return false;
}

/// What states would have taken, had it been finite.
std::set<ValueId> lost_updates(const graph::Graph& graph, const Run& run) {
  std::set<ValueId> lost;
  for (const graph::StateUpdate& update : graph.updates) {
    if (is_lost(graph, guard_of(graph, update), run)) {
      lost.insert(update.value);
    }
  }
  return lost;
}

/// As training does: the scale of the loss is halved until all gradients are finite, so that there
/// is a step to check. Nothing changes where it is not the scale's fault.
ProgramData with_fitting_loss_scale(const Target& target, const compile::Plan& plan,
                                    const ProgramData& data, const CompileOptions& options) {
  ProgramData fitting = data;
  const auto scale = fitting.states.find(compile::kLossScaleState);
  if (!plan.graph.guard || !plan.graph.gradient_guard || scale == fitting.states.end()) {
    return data;
  }
  for (float number = number_in(scale->second); number >= 1; number /= 2) {
    std::memcpy(scale->second.data(), &number, sizeof(number));
    const Run run = run_on(target, plan, fitting, options);
    if (is_lost(plan.graph, plan.graph.guard, run)) {
      break;
    }
    if (!is_lost(plan.graph, plan.graph.gradient_guard, run)) {
      return fitting;
    }
  }
  return data;
}

/// Where a value leaves the program, and what the run as it is had there.
std::map<ValueId, const Bytes*> results_of(const graph::Graph& graph, const Run& run,
                                           const std::set<ValueId>& lost) {
  std::map<ValueId, const Bytes*> results;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    results[graph.outputs[i].value] = &run.outputs[i];
  }
  for (const graph::StateUpdate& update : graph.updates) {
    for (const graph::StateVariable& state : graph.states) {
      if (state.value == update.state && !lost.contains(update.value)) {
        results[update.value] = &run.states.at(state.name);
      }
    }
  }
  return results;
}

std::vector<Tensor> input_tensors(const graph::Graph& graph, const ProgramData& data) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    tensors.push_back(from_bytes(graph.type(graph.inputs[i].value), data.inputs[i]));
  }
  return tensors;
}

reference::States state_tensors(const graph::Graph& graph, const ProgramData& data) {
  reference::States tensors;
  for (const graph::StateVariable& state : graph.states) {
    tensors.emplace(state.name, from_bytes(graph.type(state.value), data.states.at(state.name)));
  }
  return tensors;
}

/// What rounding to the coarsest format of the program does to 1, at most.
double coarsest_rounding(const graph::Graph& graph) {
  double most = 0x1p-24;
  for (const graph::Node& node : graph.nodes()) {
    most = node.format == NumberFormat::bf16  ? std::max(most, 0x1p-8)
           : node.format == NumberFormat::f16 ? std::max(most, 0x1p-11)
                                              : most;
  }
  return most;
}

/// Each number up or down by as much: what any other way to compute it might do.
void round_once(Tensor& tensor, const std::string& name, double unit) {
  if (tensor.type.dtype != graph::DType::f32) {
    return;
  }
  RandomStream random(1, name);
  for (double& value : tensor.data) {
    value *= random.uniform() < 0.5 ? 1 - unit : 1 + unit;
  }
}

/// The reference's values of all outputs. It runs the target's own program: the same values are
/// stored, in the same formats.
std::vector<Tensor> results_of_reference(const graph::Graph& graph, const ProgramData& data,
                                         bool rounded_once) {
  std::vector<Tensor> inputs = input_tensors(graph, data);
  reference::States states = state_tensors(graph, data);
  if (rounded_once) {
    const double unit = coarsest_rounding(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      round_once(inputs[i], graph.inputs[i].name, unit);
    }
    for (const graph::StateVariable& state : graph.states) {
      if (state.kind == graph::StateKind::parameter) {
        round_once(states.at(state.name), state.name, unit);
      }
    }
  }
  const std::vector<Tensor> values = reference::evaluate(graph, inputs, states);
  std::vector<Tensor> results;
  for (const graph::NamedValue& output : graph.outputs) {
    results.push_back(values[output.value.index()]);
  }
  return results;
}

double root_mean_square(const Tensor& a, const Tensor* minus) {
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    const double number = a.data[i] - (minus == nullptr ? 0 : minus->data[i]);
    if (std::isfinite(number)) {
      squares += number * number;
      ++count;
    }
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

std::vector<ResultCheck> compare_results(const graph::Graph& graph, const ProgramData& data,
                                         const Run& run) {
  const std::vector<Tensor> reference = results_of_reference(graph, data, false);
  const std::vector<Tensor> rounded = results_of_reference(graph, data, true);
  std::vector<ResultCheck> results;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (follows_gradients(graph, graph.outputs[i].value)) {
      continue;  // no result, but what becomes of the loss scale
    }
    const Tensor target = from_bytes(reference[i].type, run.outputs[i]);
    results.push_back({graph.outputs[i].name, root_mean_square(reference[i], nullptr),
                       root_mean_square(target, &reference[i]),
                       root_mean_square(rounded[i], &reference[i])});
  }
  return results;
}

}  // namespace

std::size_t ProgramCheck::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(),
                    [&](const ValueCheck& check) { return check.verdict == verdict; }));
}

bool ProgramCheck::passed() const {
  return count(Verdict::wrong) == 0;
}

ProgramCheck check_program(const Target& target, const compile::Plan& plan,
                           const ProgramData& given, const CompileOptions& options,
                           WholeProgram whole, const CheckLimits& limits,
                           const std::function<void(std::size_t, std::size_t)>& progress) {
  const graph::Graph& graph = plan.graph;
  COSMIC_ASSERT(given.inputs.size() == graph.inputs.size());
  const ProgramData data = with_fitting_loss_scale(target, plan, given, options);
  const ObservedProgram observed = observe(plan, target.info());
  const Run as_it_is = run_on(target, plan, data, options);
  const Run seen = run_on(target, observed.plan, data, options);
  const std::set<ValueId> lost = lost_updates(graph, as_it_is);
  const std::map<ValueId, const Bytes*> results = results_of(graph, as_it_is, lost);

  ProgramCheck check;
  check.states = as_it_is.states;
  TargetValues values;
  values.given = [&](ValueId id) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      if (graph.inputs[i].value == id) {
        return from_bytes(graph.type(id), data.inputs[i]);
      }
    }
    for (const graph::StateVariable& state : graph.states) {
      if (state.value == id) {
        return from_bytes(graph.type(id), data.states.at(state.name));
      }
    }
    throw InternalError("a value that nobody hands over was asked for");
  };
  values.is_made = [&](ValueId id) { return !lost.contains(id); };
  values.observed = [&](ValueId id) {
    return from_bytes(graph.type(id), seen.outputs[observed.outputs[id.index()].value()]);
  };
  values.as_it_is = [&](ValueId id) -> std::optional<Tensor> {
    const auto found = results.find(id);
    if (found == results.end() ||
        *found->second == seen.outputs[observed.outputs[id.index()].value()]) {
      return std::nullopt;
    }
    check.same_bits = false;
    return from_bytes(graph.type(id), *found->second);
  };
  values.progress = progress;
  check.values = check_values(graph, values, limits);
  if (whole == WholeProgram::yes) {
    check.results = compare_results(graph, data, as_it_is);
  }
  return check;
}

}  // namespace cosmic::target::check
