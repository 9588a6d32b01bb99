// The report on a modelled run for programs. Names of what came out of formulas begin with
// "modelled".
#pragma once

#include <string>

#include "report/prediction/prediction_report.hpp"

namespace cosmic::report::prediction {

std::string to_json(const PredictionReport& report);

}  // namespace cosmic::report::prediction
