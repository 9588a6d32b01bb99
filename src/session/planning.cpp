#include "session/planning.hpp"

#include "compile/layer_names.hpp"
#include "compile/stages.hpp"
#include "core/error.hpp"
#include "core/thread_budget.hpp"
#include "session/compiled_programs.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

// The share of compiling that goes into passes, for the progress bar; the rest prepares kernels.
constexpr double kShareOfPasses = 0.5;

int chosen_threads(const Options& options) {
  return options.threads == 0 ? thread_budget().threads : options.threads;
}

/// The last value that a block computes.
graph::ValueId result_of(const graph::Graph& graph, const std::string& block) {
  compile::require_block(graph, "anchors", block);
  graph::ValueId result{};
  graph::for_each_node(graph, [&](graph::ValueId id, const graph::Node& node) {
    if (compile::is_work(node) && compile::belongs_to(node.name, block)) {
      result = id;
    }
  });
  COSMIC_REQUIRE(UserError, graph.type(result).dtype == graph::DType::f32,
                 "anchors names '" << block << "', whose result is " << graph.type(result)
                                   << " (only floats are returned); name another layer");
  return result;
}

}  // namespace

std::unique_ptr<target::Target> chosen_target(const Options& options, Purpose purpose) {
  validate(options, purpose);
  std::unique_ptr<target::Target> target =
      target::make_target(options.target.empty() ? target::target_names().front() : options.target,
                          options.machine, options.device);
  target::require_support(*target, options.precision);
  return target;
}

compile::Precision precision_of(const Options& options) {
  compile::Precision precision = options.precision;
  precision.seed = options.seed;
  return precision;
}

void annotate(graph::Graph& forward, const Options& options) {
  if (!options.stages.blocks.empty()) {
    compile::assign_stages(forward, options.stages.blocks);
  } else if (options.stages.automatic > 0) {
    compile::assign_stages(forward, options.stages.automatic);
  }
  if (options.execution_strategy == ExecutionStrategy::pipelined) {
    compile::require_one_way(forward);
  }
  for (const std::string& block : options.recomputation_checkpoints) {
    compile::require_block(forward, "recomputation_checkpoints", block);
  }
  for (const std::string& layer : options.anchors) {
    forward.outputs.push_back({anchor_output(layer), result_of(forward, layer)});
  }
}

std::string anchor_output(const std::string& layer) {
  return "anchor/" + layer;
}

compile::Plan plan_program(graph::Graph graph, const std::vector<compile::Pass>& passes,
                           const target::Target& target, const Options& options) {
  target::require_support(target, graph);
  const compile::TargetInfo info = target.info();
  const compile::Facts facts = facts_of(graph, passes, info, options);
  compile::PlanOrigin origin;
  if (std::optional<compile::Plan> found = find_compiled(facts, info, options, origin)) {
    target::require_support(target, found->graph);
    return std::move(*found);
  }
  compile::PipelineOptions pipeline{options.disabled_passes, options.dump, {}};
  if (options.progress) {
    pipeline.progress = [&](double done, const std::string& pass) {
      options.progress(done * kShareOfPasses, pass);
    };
  }
  compile::Plan plan = compile::make_plan(std::move(graph), passes, info, pipeline);
  target::require_support(target, plan.graph);
  plan.origin = std::move(origin);
  plan.origin.made_from = facts;
  keep_compiled(plan, options);
  return plan;
}

target::CompileOptions kernel_options(const Options& options) {
  target::CompileOptions result;
  result.threads = chosen_threads(options);
  result.communicator = options.communicator;
  result.exchange = options.exchange;
  if (options.progress) {
    result.progress = [&options](double done) {
      options.progress(kShareOfPasses + done * (1 - kShareOfPasses), "kernels");
    };
  }
  return result;
}

void require_states(const ModelState& state, const graph::Graph& program) {
  for (const graph::StateVariable& variable : program.states) {
    COSMIC_REQUIRE(
        UserError,
        state.has(variable.name) && state.type(variable.name) == program.type(variable.value),
        "the state given to the inference model has no '"
            << variable.name << "' of type " << program.type(variable.value)
            << " (it belongs to another network); use the network it was made for");
  }
}

}  // namespace cosmic::session
