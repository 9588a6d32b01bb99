#include "checkpoint/onnx/onnx_step.hpp"

#include <algorithm>

#include "checkpoint/onnx/onnx_nodes.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint::onnx {
namespace {

constexpr const char* kStepImage = "image";
constexpr const char* kStepLabel = "label";
constexpr std::int64_t kStepPlanes = 3;

/// Network and loss; scores are left out.
graph::Graph forward_program(const model::Network& network, const model::Loss& loss,
                             const StepOptions& options) {
  COSMIC_REQUIRE(UserError, options.batch > 0,
                 "a step of " << options.batch
                              << " events (its shapes are fixed, and it needs some); give a "
                                 "positive number");
  const graph::Shape shape{options.batch, kStepPlanes, options.rows, options.columns};
  graph::Builder g;
  const graph::ValueId image = g.input(kStepImage, {graph::DType::f32, shape});
  const graph::ValueId label = g.input(kStepLabel, {graph::DType::u8, shape});
  const graph::ValueId logits = network.logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, loss.loss(g, logits, label));
  graph::Graph program = g.take();
  std::erase_if(program.outputs, [](const graph::NamedValue& output) {
    return output.name != compile::kLossOutput;
  });
  return program;
}

graph::Graph passed(graph::Graph program, const std::vector<compile::Pass>& passes) {
  std::vector<compile::PassReport> report;
  return compile::run_pipeline(std::move(program), passes, {}, report);
}

std::vector<Dimension> dimensions_of(const graph::TensorType& type) {
  return {type.shape.begin(), type.shape.end()};
}

void declare_inputs(const graph::Graph& program, OnnxGraph& onnx) {
  for (const graph::NamedValue& input : program.inputs) {
    const graph::TensorType& type = program.type(input.value);
    onnx.input(input.name, dimensions_of(type), element_type_of(type.dtype));
  }
}

void declare_output(const graph::Graph& program, graph::ValueId value, const std::string& name,
                    OnnxGraph& onnx) {
  const graph::TensorType& type = program.type(value);
  onnx.output(name, dimensions_of(type), element_type_of(type.dtype));
}

const std::string& state_name(const graph::Graph& program, graph::ValueId value) {
  const auto found =
      std::find_if(program.states.begin(), program.states.end(),
                   [&](const graph::StateVariable& state) { return state.value == value; });
  COSMIC_ASSERT(found != program.states.end());
  return found->name;
}

/// An output that is another value's number under a name of its own.
void name_output(const std::string& value, const std::string& name, OnnxGraph& onnx) {
  onnx.node({"Identity", name, {value}, {name}});
}

}  // namespace

std::string next_name(const std::string& state) {
  return state + ".next";
}

std::string encode_loss(const model::Network& network, const model::Loss& loss,
                        const session::ModelState& state, const StepOptions& options) {
  const graph::Graph program =
      passed(forward_program(network, loss, options), {compile::drop_dead_nodes()});
  OnnxGraph onnx(network.name(), options.opset);
  declare_inputs(program, onnx);
  std::vector<graph::ValueId> wanted{program.output(compile::kLossOutput).value};
  for (const graph::StateUpdate& update : program.updates) {
    wanted.push_back(update.value);
  }
  const std::vector<std::string> names = add_nodes(program, wanted, {.constants = &state}, onnx);
  name_output(names[0], compile::kLossOutput, onnx);
  declare_output(program, wanted[0], compile::kLossOutput, onnx);
  for (std::size_t i = 0; i < program.updates.size(); ++i) {
    const std::string name = next_name(state_name(program, program.updates[i].state));
    name_output(names[i + 1], name, onnx);
    declare_output(program, wanted[i + 1], name, onnx);
  }
  return onnx.encode(options.metadata);
}

std::string encode_training_step(const model::Network& network, const model::Loss& loss,
                                 const compile::Optimizer& optimizer, const StepOptions& options) {
  const graph::Graph program = passed(
      forward_program(network, loss, options),
      {compile::commute_upsample_with_conv(), compile::differentiate(),
       compile::cancel_bias_before_normalization(),
       compile::apply_optimizer({optimizer}, compile::Keep::nothing), compile::drop_dead_nodes()});
  OnnxGraph onnx(network.name(), options.opset);
  declare_inputs(program, onnx);
  for (const graph::StateVariable& state : program.states) {
    const graph::TensorType& type = program.type(state.value);
    onnx.input(state.name, dimensions_of(type), element_type_of(type.dtype));
  }
  std::vector<graph::ValueId> wanted{program.output(compile::kLossOutput).value};
  for (const graph::StateUpdate& update : program.updates) {
    wanted.push_back(update.value);
  }
  const std::vector<std::string> names = add_nodes(program, wanted, {}, onnx);
  name_output(names[0], compile::kLossOutput, onnx);
  declare_output(program, wanted[0], compile::kLossOutput, onnx);

  onnx.node({"IsNaN", "loss is nan", {names[0]}, {"loss is nan"}});
  onnx.node({"IsInf", "loss is infinite", {names[0]}, {"loss is infinite"}});
  onnx.node({"Or", "loss is lost", {"loss is nan", "loss is infinite"}, {"loss is lost"}});
  for (const graph::StateVariable& state : program.states) {
    const auto update =
        std::find_if(program.updates.begin(), program.updates.end(),
                     [&](const graph::StateUpdate& one) { return one.state == state.value; });
    const std::string next = next_name(state.name);
    if (update == program.updates.end()) {
      name_output(state.name, next, onnx);
    } else {
      const auto i = static_cast<std::size_t>(update - program.updates.begin());
      onnx.node({"Where", next, {"loss is lost", state.name, names[i + 1]}, {next}});
    }
    declare_output(program, state.value, next, onnx);
  }
  return onnx.encode(options.metadata);
}

}  // namespace cosmic::checkpoint::onnx
