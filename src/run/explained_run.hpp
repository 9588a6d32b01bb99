// A run as `explain` tries it: a configuration, and what a configuration does not say.
#pragma once

#include <optional>
#include <string>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "machine/explanation.hpp"
#include "machine/prepared_program.hpp"
#include "session/modelled_program.hpp"

namespace cosmic::run {

struct RunChoice {
  config::Configuration configuration;
  int replicas = 1;
  int pipeline = 1;  ///< machines of one replica
  session::Recomputation recomputation = session::Recomputation::no;
  machine::OptimizerState optimizer_state = machine::OptimizerState::on_chip;
  std::string stack = {};      ///< of the machine's description; its first if empty
  std::string published = {};  ///< a network of model/published_networks.hpp instead of network.*
  double share = 1;            ///< of one machine
  int iterations_per_call = 1;
  std::optional<double> temporary_share = {};
  /// Size of one plane; by default the detector's, reduced by data.downsample.
  std::optional<data::DenseShape> image = {};
};

/// As a run of this configuration would be.
RunChoice choice_of(const config::Configuration& configuration);

/// The configuration with what the choice says besides, as far as settings can say it.
config::Configuration applied(const RunChoice& choice);

/// The configuration of a run that does it; nothing where no settings of a run ask for it.
std::optional<config::Configuration> configuration_of(const RunChoice& choice);

/// "a21, train, 2 events a step, float32".
std::string words_of(const RunChoice& choice);

/// How one would ask for it, as settings of a run where there are such.
std::string settings_of(const RunChoice& choice);

/// What to add to the settings of `asked`; empty if nothing.
std::string settings_to_add(const RunChoice& asked, const RunChoice& choice);

/// What there is to predict, and on what, for those who predict it many times over.
struct PreparedRun {
  machine::Description machine;  ///< with its stack
  machine::PreparedProgram program;
  machine::ExecutionOptions execution;
  double events = 1;  ///< of one step, on all replicas
};

PreparedRun prepared_run(const machine::Description& machine, const RunChoice& choice);

/// From network, settings and machine to a prediction: `explain`, refusals and docs/models.md all
/// come here. Throws UserError if the machine cannot do it at all.
machine::ComparedRun predicted_run(const std::string& label, const machine::Description& machine,
                                   const RunChoice& choice);

}  // namespace cosmic::run
