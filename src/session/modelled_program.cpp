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

compile::TargetInfo compiler_of(const ProgramOptions& options) {
  compile::TargetInfo info = machine::fusing_compiler(options.stored);
  info.lowering = options.format_passes;
  return info;
}

/// In which passes round: our own compiler neither keeps weights in float16 nor, without a scaled
/// loss, gradients; stacks that do are built in bfloat16, which takes as much memory and time.
compile::Precision built_precision(const ProgramOptions& options) {
  compile::Precision precision = options.precision;
  if (options.weights == machine::StackWeights::narrow && precision.format != NumberFormat::f32) {
    precision.weights = compile::Precision::Weights::pure;
    if (precision.format == NumberFormat::f16) {
      precision.format = NumberFormat::bf16;
      precision.partials = NumberFormat::f32;
      precision.loss_scaling = {};
    }
  }
  return precision;
}

/// With the formats that were asked for.
graph::Graph renamed(graph::Graph graph, const ProgramOptions& options) {
  if (built_precision(options).format == options.precision.format) {
    return graph;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    graph::Node& node = graph.node(graph::ValueId(i));
    node.format = node.format == NumberFormat::bf16 ? NumberFormat::f16 : node.format;
  }
  graph.numerics.partials = options.precision.partials;
  return graph;
}

graph::Graph run(graph::Graph graph, const std::vector<compile::Pass>& passes,
                 const ProgramOptions& options) {
  if (options.stages > 1) {
    compile::assign_stages(graph, options.stages);
    compile::require_one_way(graph);
  }
  compile::PipelineOptions pipeline;
  for (const std::string& pass : machine::passes_left_out(compiler_of(options), passes)) {
    pipeline.disabled.insert(pass);
  }
  std::vector<compile::PassReport> report;
  return renamed(compile::run_pipeline(std::move(graph), passes, pipeline, report), options);
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
  const graph::Graph step = run(g.take(),
                                compile::training_passes(compiler_of(options), {options.optimizer},
                                                         {}, built_precision(options)),
                                options);
  return options.recomputation == Recomputation::yes ? machine::with_recomputation(step) : step;
}

graph::Graph inference_program(const model::Network& network, Shape image,
                               const ProgramOptions& options) {
  Builder g;
  const ValueId input = g.input("image", {DType::f32, std::move(image)});
  g.output("logits", network.logits(g, input, model::Phase::evaluation));
  return run(g.take(), compile::inference_passes(compiler_of(options), built_precision(options)),
             options);
}

}  // namespace cosmic::session
