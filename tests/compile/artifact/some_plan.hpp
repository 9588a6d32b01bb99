// A plan with everything that a plan can have: inputs, states that are overwritten, values that are
// not stored, buffers that are taken over.
#pragma once

#include "compile/pipeline.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"

namespace cosmic::compile::artifact {

/// Recomputes what it can and writes over whatever dies.
inline compile::TargetInfo some_target() {
  compile::TargetInfo target;
  target.name = "some";
  target.can_recompute = [](const graph::Graph&, graph::ValueId) { return true; };
  target.can_write_over = [](const graph::Graph&, graph::ValueId, graph::ValueId) { return true; };
  return target;
}

inline compile::Plan some_plan() {
  model::UResNetOptions options;
  options.n_initial_filters = 2;
  options.depth = 2;
  options.blocks_deepest_layer = 1;
  options.bottleneck_deepest = 4;
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, {1, 3, 16, 16}});
  const graph::ValueId label = g.input("label", {graph::DType::u8, {1, 3, 16, 16}});
  const graph::ValueId logits = model::UResNet(options).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  compile::Plan plan = compile::make_plan(
      g.take(), compile::training_passes(some_target(), {compile::Adam{}}, {}), some_target(), {});
  plan.origin.made_from = {{"target", "some"}, {"program", "1234"}};
  return plan;
}

/// One that a damaged byte can reach everywhere in no time.
inline compile::Plan tiny_plan() {
  const graph::TensorType type{graph::DType::f32, {1, 2, 4, 4}};
  graph::Builder g;
  const graph::ValueId x = g.input("image", type);
  const graph::ValueId state =
      g.state("moment", type, graph::StateKind::optimizer, graph::Initializer::constant(0));
  const graph::ValueId y = g.add(graph::LeakyRelu{}, {x});
  g.update(state, g.add(graph::Moment{}, {state, y}));
  g.output("y", g.add(graph::Add{}, {x, y}));
  compile::Plan plan = compile::plan_memory(g.take(), some_target());
  plan.origin.made_from = {{"target", "some"}, {"program", "5678"}};
  return plan;
}

}  // namespace cosmic::compile::artifact
