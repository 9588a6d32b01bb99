// `cosmictagger evaluate` as a function: measures, then writes the page and the JSON.
#pragma once

#include <filesystem>
#include <string>

#include "report/evaluation/evaluation.hpp"

namespace cosmic::report::evaluation {

struct ReportFiles {
  std::filesystem::path page;
  std::filesystem::path json;
};

/// evaluation.html in the run's folder, or mode.output_file; the JSON beside it, under the same
/// name with the ending .json.
ReportFiles report_files(const config::Configuration& configuration);

/// Replaces both files. Throws DataError if they cannot be written.
void write_report(const Evaluation& evaluation, const ReportFiles& files);

}  // namespace cosmic::report::evaluation
