// settings.json of a port kit: the whole configuration under its own names, and what a run has to
// know besides.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/configuration.hpp"

namespace cosmic::port {

/// All of it, also what has no effect in this run: a kit finds every setting in its place.
nlohmann::ordered_json configuration_json(const config::Configuration& configuration);

}  // namespace cosmic::port
