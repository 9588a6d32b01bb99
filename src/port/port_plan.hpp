// How a kit runs its network on a machine: what `explain --make-it-fit` chooses for it, in the
// terms of the machine's own software.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"

namespace cosmic::port {

struct PortPlan {
  config::Configuration configuration;  ///< with what was changed to make it fit
  std::string machine;                  ///< "bow"
  std::string verdict;                  ///< does it fit, and how fast would it be: a sentence
  std::string changed;                  ///< settings that differ from what was asked for, or empty
  bool optimizer_state_streamed = false;
};

/// As asked if that certainly fits; otherwise the best way that does, or, if none does, as asked.
/// Throws UserError if the machine cannot do it at all.
PortPlan plan_port(const config::Configuration& configuration, const data::DenseShape& image);

/// What the wrapper of an IPU reads: the first module of each IPU (`blocks`), the share of a tile's
/// memory for temporaries, where the optimizer's state is.
nlohmann::ordered_json ipu_plan(const PortPlan& plan, const data::DenseShape& image);
/// What that of an RDU reads: `sections`, layers by name; empty where the wrapper makes them.
nlohmann::ordered_json rdu_plan(const PortPlan& plan);

}  // namespace cosmic::port
