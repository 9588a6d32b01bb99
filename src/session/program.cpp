#include "session/program.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"
#include "session/step_cost.hpp"

namespace cosmic::session {
namespace {

Tensor noise(const graph::TensorType& type, std::uint64_t seed, std::string_view name) {
  Tensor tensor(type);
  RandomStream random(seed, name);
  if (type.dtype == graph::DType::f32) {
    for (float& element : tensor.as<float>()) {
      element = static_cast<float>(random.uniform());
    }
  } else {
    for (std::byte& element : tensor.bytes) {
      element = std::byte{random.uniform() < 0.5};
    }
  }
  return tensor;
}

}  // namespace

Program::Program(compile::Plan plan) : plan_(std::move(plan)) {
  inputs_.resize(plan_.graph.inputs.size());
  staged_.resize(plan_.graph.inputs.size());
}

void Program::attach(const target::Target& target, const ModelState& state,
                     const target::CompileOptions& options) {
  make_outputs();
  const Stopwatch watch;
  executable_ = target::compile_all(target, plan_, state.bank(), options);
  kernels_seconds_ = watch.seconds();
  for (const Synthetic& synthetic : synthetic_) {
    inputs_[synthetic.input] = target::RunInput(synthetic.data.bytes);
  }
}

/// Not before somebody runs it: the scores of a batch are as large as many of its images.
void Program::make_outputs() {
  if (!outputs_.empty()) {
    return;
  }
  for (const graph::NamedValue& output : plan_.graph.outputs) {
    outputs_.emplace_back(plan_.graph.type(output.value));
  }
  for (Tensor& output : outputs_) {
    output_spans_.emplace_back(output.bytes);
  }
}

std::size_t Program::input_index(std::string_view name) const {
  const auto& inputs = plan_.graph.inputs;
  const auto found =
      std::find_if(inputs.begin(), inputs.end(),
                   [&](const graph::NamedValue& input) { return input.name == name; });
  return static_cast<std::size_t>(found - inputs.begin());
}

void Program::set_input(std::string_view name, const target::RunInput& input) {
  const std::size_t index = input_index(name);
  if (index == inputs_.size()) {
    return;  // a program may not need it: a step that only accumulates has no learning rate
  }
  if (!same_views(input, staged_[index])) {
    target::require_input(plan_.graph.inputs[index].name,
                          plan_.graph.type(plan_.graph.inputs[index].value), input);
  }
  inputs_[index] = input;
}

void Program::stage(std::string_view name, const target::RunInput& input) {
  const std::size_t index = input_index(name);
  COSMIC_ASSERT(index < inputs_.size());
  target::require_input(plan_.graph.inputs[index].name,
                        plan_.graph.type(plan_.graph.inputs[index].value), input);
  executable_->stage(index, input);
  staged_[index] = input;
}

void Program::make_synthetic(std::string_view name, std::uint64_t seed) {
  const std::size_t index = input_index(name);
  COSMIC_ASSERT(index < inputs_.size());
  const graph::TensorType& type = plan_.graph.type(plan_.graph.inputs[index].value);
  synthetic_.push_back({index, noise(type, seed, name)});
  inputs_[index] = target::RunInput(synthetic_.back().data.bytes);
}

void Program::detach() {
  COSMIC_REQUIRE(UserError, !in_flight(),
                 "the model is to give its memory back while a run is in flight (which computes in "
                 "that memory); call wait() first");
  executable_.reset();
  std::fill(staged_.begin(), staged_.end(), target::RunInput());
}

void Program::submit() {
  executable_->submit(inputs_);
  std::fill(staged_.begin(), staged_.end(), target::RunInput());
}

void Program::wait() {
  executable_->wait(output_spans_);
  for (const Synthetic& synthetic : synthetic_) {
    inputs_[synthetic.input] = {};
  }
}

void Program::run() {
  submit();
  wait();
}

std::span<const float> Program::output(std::string_view name) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (plan_.graph.outputs[i].name == name) {
      return outputs_[i].as<float>();
    }
  }
  return {};
}

void Program::add_to(CompileReport& report) const {
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(report.passes, plan_.passes);
  append(report.notes, plan_.origin.notes);
  append(report.warnings, plan_.origin.warnings);
  if (!plan_.origin.found_in.empty()) {
    report.found_in.push_back(plan_.origin.found_in);
  }
  report.cache_hits += plan_.origin.cache == compile::PlanOrigin::Cache::hit ? 1 : 0;
  report.cache_misses += plan_.origin.cache == compile::PlanOrigin::Cache::miss ? 1 : 0;
  report.planning_seconds += plan_.planning_seconds;
  report.kernels_seconds += kernels_seconds_;
  report.nodes += plan_.graph.size();
  report.arena_bytes += plan_.arena_bytes;
  report.peak_live_bytes += plan_.peak_live_bytes;
  report.memory_bytes += attached() ? executable_->memory_bytes() : plan_.arena_bytes;
  graph::for_each_node(plan_.graph, [&](graph::ValueId id, const graph::Node&) {
    report.flops += graph::cost_of(plan_.graph, id).flops;
  });
}

std::vector<OpTiming> Program::timings() const {
  std::vector<OpTiming> timings;
  auto step = plan_.steps.steps.begin();
  for (const target::NodeTiming& timing : executable_->timings()) {
    const graph::Node& node = plan_.graph.node(timing.value);
    OpTiming op{std::string(graph::name_of(node.op)), node.name, node.type, timing.seconds, {}};
    // Both are in program order; steps that are fixed have no time.
    step = std::find_if(step, plan_.steps.steps.end(), [&](const compile::Step& candidate) {
      return candidate.leader.value == timing.value;
    });
    COSMIC_ASSERT(step != plan_.steps.steps.end());
    op.cost = cost_of_step(plan_, *step);
    for (const compile::Rider& rider : step->riders) {
      op.riders.emplace_back(graph::name_of(plan_.graph.node(rider.computed.value).op));
    }
    const compile::TermView value(plan_.graph, step->leader.expression);
    for (std::size_t i = 0; i < value.operand_count(); ++i) {
      if (!value.operand(i).is_leaf()) {
        op.evaluates.push_back(compile::to_text(value.operand(i)));
      }
    }
    timings.push_back(std::move(op));
  }
  return timings;
}

}  // namespace cosmic::session
