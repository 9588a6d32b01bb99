// The report on a modelled run as one self-contained page, in the spirit of the vendors' analysers.
// Every figure is marked as modelled, or with where it was taken from.
#pragma once

#include <string>

#include "prediction_page/prediction_report.hpp"

namespace cosmic::prediction_page {

std::string to_page(const PredictionReport& report);

}  // namespace cosmic::prediction_page
