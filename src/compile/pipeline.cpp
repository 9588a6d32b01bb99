#include "compile/pipeline.hpp"

#include "core/stopwatch.hpp"

namespace cosmic::compile {
namespace {

void append(std::vector<Pass>& passes, const std::vector<Pass>& more) {
  passes.insert(passes.end(), more.begin(), more.end());
}

}  // namespace

// Each pass carries the reason for its place; see its `because`.

std::vector<Pass> inference_passes(const TargetInfo& target, const Precision& precision) {
  std::vector<Pass> passes{
      fold_normalization(),
      commute_upsample_with_conv(),
      split_conv_of_concat(),
  };
  append(passes, finishing_passes(target, precision));
  return passes;
}

std::vector<Pass> training_passes(const TargetInfo& target, const UpdateRule& rule,
                                  const GradientUse& use, const Precision& precision) {
  std::vector<Pass> passes{
      commute_upsample_with_conv(),
      split_conv_of_concat(),
      differentiate(precision.loss_scaling),
      cancel_bias_before_normalization(),
  };
  if (use.processes > 1) {
    passes.push_back(synchronize_statistics(use.processes));
  }
  if (use.kind == GradientUse::Kind::accumulate) {
    passes.push_back(
        accumulate_gradients({use.factor, use.exchange}, use.keep, precision.loss_scaling));
  } else {
    if (use.sums == Sums::of_all_processes) {
      passes.push_back(exchange_gradients(use.factor, use.exchange));
    }
    passes.push_back(apply_optimizer(rule, use.keep, precision.loss_scaling));
  }
  append(passes, finishing_passes(target, precision));
  if (use.sums == Sums::of_all_processes && use.kind == GradientUse::Kind::update) {
    passes.push_back(start_exchanges_early());
  }
  return passes;
}

std::vector<Pass> finishing_passes(const TargetInfo& target, const Precision& precision) {
  std::vector<Pass> passes{move_add_into_conv(), drop_dead_nodes()};
  if (precision.format != NumberFormat::f32 || precision.partials != NumberFormat::f32 ||
      precision.tf32) {
    passes.push_back(assign_formats(precision));
  }
  if (target.has_riders) {
    append(passes, {pair_gradients(), update_weights_early()});
  }
  append(passes, target.lowering);
  append(passes, {assign_layouts(target), choose_stored_values(target)});
  return passes;
}

// Steps are made and memory is planned after all rewrites: any later change would invalidate them.
Plan make_plan(graph::Graph graph, const std::vector<Pass>& passes, const TargetInfo& target,
               const PipelineOptions& options) {
  std::vector<PassReport> report;
  graph = run_pipeline(std::move(graph), passes, options, report);
  const Stopwatch watch;
  Plan plan = plan_memory(std::move(graph), target);
  verify(plan, target);
  plan.planning_seconds = watch.seconds();
  plan.passes = std::move(report);
  return plan;
}

}  // namespace cosmic::compile
