// The page of `cosmictagger explain --profile`.
#pragma once

#include <filesystem>

#include "report/prediction/prediction_report.hpp"

namespace cosmic::cli {

/// Writes `page` and, beside it, the same with the ending .json; both appear whole or not at all.
/// Sets the date. Throws UserError if the name does not end in .html.
void write_prediction_page(const std::filesystem::path& page,
                           report::prediction::PredictionReport report);

}  // namespace cosmic::cli
