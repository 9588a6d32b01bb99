// What a step tells about itself, as metrics with the reference's names.
#pragma once

#include <string_view>

#include "output/metrics.hpp"
#include "session/model.hpp"

namespace cosmic::train {

output::Metrics metrics_of(const session::StepResult& result);

/// NaN where there is none of that name.
double value_of(const output::Metrics& metrics, std::string_view key);

}  // namespace cosmic::train
