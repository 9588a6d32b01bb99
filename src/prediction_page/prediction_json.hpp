// The report on a modelled run for programs. Names of what came out of formulas begin with
// "modelled".
#pragma once

#include <string>

#include "prediction_page/prediction_report.hpp"

namespace cosmic::prediction_page {

std::string to_json(const PredictionReport& report);

}  // namespace cosmic::prediction_page
