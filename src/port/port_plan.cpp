#include "port/port_plan.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "compile/layer_names.hpp"
#include "compile/stages.hpp"
#include "core/error.hpp"
#include "machine/section_plan.hpp"
#include "model/uresnet.hpp"
#include "run/explain.hpp"
#include "run/make_it_fit.hpp"
#include "run/run_choices.hpp"

namespace cosmic::port {
namespace {

/// As asked if that fits, else the best way that does, else as asked.
run::Way chosen_way(const machine::Description& machine, const run::RunChoice& asked) {
  const run::Way as_asked{asked, run::predicted_run("as asked", machine, asked)};
  if (as_asked.fits() == machine::Fit::yes) {
    return as_asked;
  }
  const std::vector<run::Way> ways = run::ways_tried(machine, asked);
  const run::Way* const best = run::best_way(ways);
  return best == nullptr ? as_asked : *best;
}

/// The first layer of each stage, in the order of stages.
std::vector<std::string> first_layers(const config::Configuration& configuration,
                                      const data::DenseShape& image) {
  const model::UResNet network(configuration.network);
  const graph::Shape shape{configuration.run.minibatch_size, 3, image.rows, image.columns};
  graph::Builder g;
  const graph::ValueId logits =
      network.logits(g, g.input("image", {graph::DType::f32, shape}), model::Phase::training);
  const graph::ValueId labels = g.input("label", {graph::DType::u8, shape});
  g.output("loss", run::loss_of(configuration.mode.optimizer).loss(g, logits, labels));
  graph::Graph forward = g.take();
  const std::int64_t stages = configuration.run.stages;
  if (stages > 1) {
    compile::assign_stages(forward, stages);
  }
  std::vector<std::string> layers(static_cast<std::size_t>(stages));
  for (const graph::Node& node : forward.nodes()) {
    std::string& first = layers.at(static_cast<std::size_t>(node.stage));
    const bool is_layer = !node.name.empty() && !compile::belongs_to(node.name, "loss");
    if (first.empty() && compile::is_work(node) && is_layer) {
      first = node.name;
    }
  }
  COSMIC_REQUIRE(UserError, !layers.back().empty(),
                 "run.stages=" << stages
                               << " (the last stage would hold the loss alone, which is no module "
                                  "of the network); choose fewer stages");
  return layers;
}

}  // namespace

PortPlan plan_port(const config::Configuration& configuration, const data::DenseShape& image) {
  const machine::Description machine = run::machine_of(configuration.run);
  run::RunChoice asked = run::choice_of(configuration);
  asked.image = image;
  run::Way way = chosen_way(machine, asked);
  PortPlan plan{
      .configuration = configuration,
      .machine = machine.name,
      .verdict = fmt::format("{}: it {} ({:.3g} events/s on {} machine{}, modelled)",
                             run::words_of(way.choice), machine::to_string(way.fits()),
                             way.run.modelled_events(), way.run.machines,
                             way.run.machines == 1 ? "" : "s"),
      .changed = run::settings_to_add(asked, way.choice),
      .optimizer_state_streamed = way.choice.optimizer_state == machine::OptimizerState::streamed};
  // Where the state is kept is no setting of a run, but of the plan.
  way.choice.optimizer_state = machine::OptimizerState::on_chip;
  plan.configuration = run::configuration_of(way.choice).value();
  return plan;
}

nlohmann::ordered_json ipu_plan(const PortPlan& plan, const data::DenseShape& image) {
  const machine::Description machine = run::machine_of(plan.configuration.run);
  return {{"machine", plan.machine},
          {"verdict", plan.verdict},
          {"blocks", first_layers(plan.configuration, image)},
          {"available_memory_proportion", machine["temporary_share"]},
          {"optimizer_state", plan.optimizer_state_streamed ? "streamed" : "on_chip"}};
}

nlohmann::ordered_json rdu_plan(const PortPlan& plan) {
  nlohmann::ordered_json sections = nlohmann::ordered_json::array();
  if (!plan.configuration.run.section_plan.empty()) {
    sections = machine::read_section_plan(plan.configuration.run.section_plan);
  }
  return {{"machine", plan.machine}, {"verdict", plan.verdict}, {"sections", sections}};
}

}  // namespace cosmic::port
