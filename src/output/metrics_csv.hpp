// train_metrics.csv, test_metrics.csv, ana_metrics.csv: a header `step,<keys>` and one row per
// step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/pending_file.hpp"
#include "output/append_file.hpp"
#include "output/metrics.hpp"

namespace cosmic::output {

/// `<folder>/train_metrics.csv` and so on.
std::filesystem::path metrics_csv_path(const std::filesystem::path& folder, Series series);

/// Keeps a copy of the file if it has rows of `first_step` or later, which a MetricsCsv that goes
/// on there drops: `train_metrics.aside-1.csv`, or the next number that is free. Returns its path;
/// nothing if no row would be lost.
std::optional<std::filesystem::path> set_metrics_aside(const std::filesystem::path& path,
                                                       std::int64_t first_step);

/// Rows reach the file at once. A run that resumes at `first_step` keeps the rows before it and
/// drops the others, which it is about to compute again; a new run keeps none.
class MetricsCsv {
 public:
  explicit MetricsCsv(std::filesystem::path path, std::int64_t first_step = 0);

  /// Throws UserError if a table of these metrics could not go on at `first_step` with what is in
  /// the file. Changes nothing.
  static void require_same_columns(const std::filesystem::path& path, std::int64_t first_step,
                                   const Metrics& metrics);

  /// Whether a table that goes on at `first_step` has this column, or is free to have it.
  static bool can_have_column(const std::filesystem::path& path, std::int64_t first_step,
                              const std::string& key);

  /// The first row decides the columns. Throws UserError if the rows that were kept have others,
  /// DataError if the row cannot be written.
  void add(std::int64_t step, const Metrics& metrics);

 private:
  std::filesystem::path path_;
  std::string header_;  ///< empty until there is a row
  std::optional<AppendFile> file_;
};

/// Such a table that appears when it is complete, for a command that cannot be taken up again.
class WholeMetricsCsv {
 public:
  /// Throws UserError if the file exists and may not be replaced, DataError if it cannot be
  /// written.
  WholeMetricsCsv(const std::filesystem::path& path, Existing existing);

  void add(std::int64_t step, const Metrics& metrics);
  void commit() { file_.commit(); }

 private:
  PendingFile file_;
  bool has_header_ = false;
};

}  // namespace cosmic::output
