#include "session/modelled_program.hpp"

#include "compile/pipeline.hpp"
#include "compile/stages.hpp"
#include "machine/fusing_compiler.hpp"
#include "machine/recomputation.hpp"

namespace cosmic::session {
namespace {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::ValueId;

compile::TargetInfo target_info(const ProgramOptions& options) {
  compile::TargetInfo info = machine::fusing_compiler();
  if (options.local_values != LocalValues::recompute) {
    info.can_recompute = [kept = options.local_values](const graph::Graph& graph, ValueId id) {
      return kept == LocalValues::activations_in_place &&
             std::holds_alternative<graph::LeakyRelu>(graph.node(id).op);
    };
  }
  return info;
}

graph::Graph run(graph::Graph graph, const std::vector<compile::Pass>& passes,
                 const ProgramOptions& options) {
  if (options.stages > 1) {
    compile::assign_stages(graph, options.stages);
    compile::require_one_way(graph);
  }
  compile::PipelineOptions pipeline;
  if (options.local_values == LocalValues::store) {
    for (const compile::Pass& pass : passes) {
      if (pass.name == compile::fold_normalization().name) {
        pipeline.disabled.insert(std::string(pass.name));
      }
    }
  }
  std::vector<compile::PassReport> report;
  return compile::run_pipeline(std::move(graph), passes, pipeline, report);
}

}  // namespace

graph::Graph training_program(const model::Network& network, const model::Loss& loss, Shape image,
                              const ProgramOptions& options) {
  Builder g;
  const ValueId input = g.input("image", {DType::f32, image});
  const ValueId logits = network.logits(g, input, model::Phase::training);
  const Shape label = g.type(logits).rank() == 2 ? Shape{g.type(logits).dim(0)} : image;
  const ValueId labels = g.input("label", {DType::u8, label});
  g.output(compile::kLossOutput, loss.loss(g, logits, labels));
  const graph::Graph step = run(
      g.take(),
      compile::training_passes(target_info(options), {options.optimizer}, {}, options.precision),
      options);
  return options.recomputation == Recomputation::yes ? machine::with_recomputation(step) : step;
}

graph::Graph inference_program(const model::Network& network, Shape image,
                               const ProgramOptions& options) {
  Builder g;
  const ValueId input = g.input("image", {DType::f32, std::move(image)});
  g.output("logits", network.logits(g, input, model::Phase::evaluation));
  return run(g.take(), compile::inference_passes(target_info(options), options.precision), options);
}

}  // namespace cosmic::session
