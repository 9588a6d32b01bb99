// A prediction's page and, beside it, the same numbers for programs.
#pragma once

#include <filesystem>

#include "report/prediction/prediction_report.hpp"

namespace cosmic::report::prediction {

/// Writes `page` and the same with the ending .json, which it returns; both appear whole or not at
/// all. Sets the date. Throws UserError if the name does not end in .html.
std::filesystem::path write_prediction_page(const std::filesystem::path& page,
                                            PredictionReport report);

}  // namespace cosmic::report::prediction
