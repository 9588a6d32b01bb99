// `cosmictagger evaluate` as a function: measures, then writes the page and the JSON.
#pragma once

#include <filesystem>
#include <string>

#include "core/pending_file.hpp"
#include "report/evaluation/evaluation.hpp"

namespace cosmic::report::evaluation {

struct ReportFiles {
  std::filesystem::path page;
  std::filesystem::path json;
};

/// evaluation.html in the run's folder, or mode.output_file; the JSON beside it, under the same
/// name with the ending .json.
ReportFiles report_files(const config::Configuration& configuration);

/// Holds the names of the two files from before the first event is tagged, so that another
/// evaluation that would write them is refused at its start.
class ReportWriter {
 public:
  /// Makes the folder if there is none. Throws UserError if one of the files exists and may not be
  /// replaced or is being written, DataError if it cannot be written.
  explicit ReportWriter(const ReportFiles& files, Existing existing = Existing::refuse);

  /// Once.
  void write(const Evaluation& evaluation);

 private:
  PendingFile json_;
  PendingFile page_;
};

}  // namespace cosmic::report::evaluation
