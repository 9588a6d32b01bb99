// The parts of a report's page, as HTML; empty where there is nothing to show.
#pragma once

#include <string>

#include "report/prediction/prediction_report.hpp"

namespace cosmic::report::prediction {

/// The verdict, in a sentence.
std::string headline(const PredictionReport& report);

std::string summary_section(const PredictionReport& report);
std::string bounds_section(const PredictionReport& report);
std::string host_section(const PredictionReport& report);
std::string memory_section(const PredictionReport& report);
std::string liveness_section(const PredictionReport& report);
std::string ops_section(const PredictionReport& report);
std::string pipeline_section(const PredictionReport& report);
std::string scaling_section(const PredictionReport& report);
std::string unknowns_section(const PredictionReport& report);
std::string figures_section(const PredictionReport& report);
std::string provenance_section(const PredictionReport& report);

}  // namespace cosmic::report::prediction
