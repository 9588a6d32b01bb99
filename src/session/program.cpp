#include "session/program.hpp"

#include "core/error.hpp"

namespace cosmic::session {

Program::Program(const target::Target& target, compile::Plan plan, const ModelState& state,
                 const target::CompileOptions& options)
    : plan_(std::move(plan)),
      executable_(target::compile_all(target, plan_, state.bank(), options)) {
  inputs_.resize(plan_.graph.inputs.size());
  for (const graph::NamedValue& output : plan_.graph.outputs) {
    outputs_.emplace_back(plan_.graph.type(output.value));
  }
  for (Tensor& output : outputs_) {
    output_spans_.emplace_back(output.bytes);
  }
}

void Program::set_input(const std::string& name, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const graph::NamedValue& input = plan_.graph.inputs[i];
    if (input.name != name) {
      continue;
    }
    const graph::TensorType& type = plan_.graph.type(input.value);
    COSMIC_REQUIRE(UserError, static_cast<std::int64_t>(bytes.size()) == type.bytes(),
                   "the " << name << " has " << bytes.size()
                          << " bytes, the model was compiled for " << type << ", " << type.bytes()
                          << " bytes (shapes are fixed when compiling); compile a model for this "
                             "batch size and image size");
    inputs_[i] = bytes;
    return;
  }
}

void Program::run() {
  executable_->run(inputs_, output_spans_);
}

std::span<const float> Program::output(const std::string& name) const {
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
  report.nodes += plan_.graph.size();
  report.arena_bytes += plan_.arena_bytes;
  report.peak_live_bytes += plan_.peak_live_bytes;
  report.memory_bytes += executable_->memory_bytes();
  graph::for_each_node(plan_.graph, [&](graph::ValueId id, const graph::Node&) {
    report.flops += graph::cost_of(plan_.graph, id).flops;
  });
}

std::vector<OpTiming> Program::timings() const {
  std::vector<OpTiming> timings;
  for (const target::NodeTiming& timing : executable_->timings()) {
    const graph::Node& node = plan_.graph.node(timing.value);
    timings.push_back({std::string(graph::name_of(node.op)), node.name, node.type, timing.seconds,
                       graph::cost_of(plan_.graph, timing.value)});
  }
  return timings;
}

}  // namespace cosmic::session
