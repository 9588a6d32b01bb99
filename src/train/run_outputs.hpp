// What a training run writes while it runs: a line of the log, a row of the CSV file and a point of
// every curve for each update and each validation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "config/configuration.hpp"
#include "core/provenance.hpp"
#include "core/stopwatch.hpp"
#include "output/metrics.hpp"
#include "output/metrics_csv.hpp"
#include "output/run_log.hpp"
#include "output/tensorboard_writer.hpp"
#include "train/summary_images.hpp"

namespace cosmic::train {

class RunOutputs {
 public:
  /// Goes on at `first_step`: what earlier starts wrote about it and later ones is dropped.
  RunOutputs(const config::Configuration& configuration, const std::filesystem::path& folder,
             std::int64_t first_step, Provenance provenance, output::RunLog& log);

  /// Throws UserError if the rows of earlier starts that are kept have other columns than updates
  /// with such metrics. Changes nothing.
  static void require_same_columns(const std::filesystem::path& folder, std::int64_t first_step,
                                   output::Metrics metrics, Provenance provenance);

  struct UpdateTimes {
    double io_seconds = 0;
    double step_seconds = 0;
  };
  void add_update(std::int64_t step, output::Metrics metrics, const UpdateTimes& times,
                  double learning_rate);
  void add_validation(std::int64_t step, const output::Metrics& metrics);

  /// Does this step want pictures?
  bool wants_images(std::int64_t step) const;
  void add_images(std::int64_t step, const SummaryEvent& event);

 private:
  /// Since the line before, of either kind.
  double images_per_second();

  const config::Configuration& configuration_;
  Provenance provenance_;  ///< of everything about time
  output::RunLog& log_;
  output::MetricsCsv updates_;
  output::MetricsCsv validations_;
  std::optional<output::TensorBoardWriter> update_board_;
  std::optional<output::TensorBoardWriter> validation_board_;
  std::filesystem::path folder_;
  std::int64_t first_step_;
  bool rate_in_table_;  ///< not in one that an earlier version began
  bool first_line_ = true;
  Stopwatch since_last_line_;
};

}  // namespace cosmic::train
