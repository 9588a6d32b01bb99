// A prediction's page and, beside it, the same numbers for programs.
#pragma once

#include <filesystem>

#include "core/pending_file.hpp"
#include "report/prediction/prediction_report.hpp"

namespace cosmic::report::prediction {

/// The JSON beside a page: the same name with the ending .json. Throws UserError if that of the
/// page does not end in .html.
std::filesystem::path json_beside(const std::filesystem::path& page);

/// Writes `page` and the JSON beside it; each appears whole or not at all. Sets the date. Throws
/// UserError if one of them exists and may not be replaced.
void write_prediction_page(const std::filesystem::path& page, PredictionReport report,
                           Existing existing);

}  // namespace cosmic::report::prediction
