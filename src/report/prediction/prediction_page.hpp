// The report on a modelled run as one self-contained page, in the spirit of the vendors' analysers.
// Every figure is marked as modelled, or with where it was taken from.
#pragma once

#include <string>

#include "report/prediction/prediction_report.hpp"

namespace cosmic::report::prediction {

std::string to_page(const PredictionReport& report);

}  // namespace cosmic::report::prediction
