// Weights become a model that is ready to tag events.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/configuration.hpp"
#include "core/provenance.hpp"
#include "serve/served_model.hpp"

namespace cosmic::serve {

/// What computes.
struct ServingTarget {
  std::string name;
  Provenance provenance;
};

/// Reads the weights, compiles and tags one empty event with each replica, so that the first
/// request finds it warm. `warn` hears what is odd about the weights. Throws Error.
std::shared_ptr<const ServedModel> serve_network(
    const ModelSource& source, const config::Configuration& configuration,
    const ServingTarget& target, const ServingOptions& options, ComputeSlots& slots,
    const std::function<void(const std::string&)>& warn);

}  // namespace cosmic::serve
