#include "session/planning.hpp"

#include "core/error.hpp"
#include "core/threads.hpp"
#include "session/compiled_programs.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

// The share of compiling that goes into passes, for the progress bar; the rest prepares kernels.
constexpr double kShareOfPasses = 0.5;

int chosen_threads(const Options& options) {
  return options.threads == 0 ? available_cores() : options.threads;
}

}  // namespace

std::unique_ptr<target::Target> chosen_target(const Options& options) {
  validate(options);
  std::unique_ptr<target::Target> target =
      target::make_target(options.target.empty() ? target::target_names().front() : options.target);
  target::require_support(*target, options.precision);
  return target;
}

compile::Precision precision_of(const Options& options) {
  compile::Precision precision = options.precision;
  precision.seed = options.seed;
  return precision;
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
  if (options.progress) {
    result.progress = [&options](double done) {
      options.progress(kShareOfPasses + done * (1 - kShareOfPasses), "kernels");
    };
  }
  return result;
}

void require_compiled(const std::optional<CompileReport>& report) {
  COSMIC_REQUIRE(UserError, report.has_value(),
                 "the model has not been compiled (it has no program to run and no state yet); "
                 "call compile() with the types of a batch first");
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
