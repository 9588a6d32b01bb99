#include "train/run_outputs.hpp"

#include <algorithm>
#include <array>

#include "output/report_lines.hpp"
#include "run/run_choices.hpp"

namespace cosmic::train {
namespace {

using output::Series;

// Two lines may fall into one tick of the clock.
constexpr double kShortestInterval = 1e-9;

// What is measured beside the metrics of an update.
constexpr std::array kTimings{"global_step_per_sec", "images_per_second", "io_fetch_time",
                              "step_time"};
constexpr const char* kRate = "learning_rate";

void add_timings(output::Metrics& metrics, const std::array<double, kTimings.size()>& values,
                 Provenance provenance) {
  for (std::size_t i = 0; i < kTimings.size(); ++i) {
    metrics.push_back({marked(kTimings[i], provenance), values[i]});
  }
}

}  // namespace

RunOutputs::RunOutputs(const config::Configuration& configuration,
                       const std::filesystem::path& folder, std::int64_t first_step,
                       Provenance provenance, output::RunLog& log)
    : configuration_(configuration),
      provenance_(provenance),
      log_(log),
      updates_(output::metrics_csv_path(folder, Series::train), first_step),
      validations_(output::metrics_csv_path(folder, Series::test), first_step),
      folder_(folder),
      first_step_(first_step),
      rate_in_table_(output::MetricsCsv::can_have_column(
          output::metrics_csv_path(folder, Series::train), first_step, kRate)) {
  if (configuration.run.saver) {
    update_board_.emplace(folder / "train", first_step);
  }
}

void RunOutputs::require_same_columns(const std::filesystem::path& folder, std::int64_t first_step,
                                      output::Metrics metrics, Provenance provenance) {
  add_timings(metrics, {}, provenance);
  const std::filesystem::path table = output::metrics_csv_path(folder, Series::train);
  if (output::MetricsCsv::can_have_column(table, first_step, kRate)) {
    metrics.push_back({kRate});
  }
  output::MetricsCsv::require_same_columns(table, first_step, metrics);
}

double RunOutputs::images_per_second() {
  const double seconds = std::max(since_last_line_.seconds(), kShortestInterval);
  since_last_line_ = Stopwatch();
  return static_cast<double>(configuration_.run.minibatch_size) / seconds;
}

void RunOutputs::add_update(std::int64_t step, output::Metrics metrics, const UpdateTimes& times,
                            double learning_rate) {
  const double rate = images_per_second();
  add_timings(metrics,
              {rate / static_cast<double>(configuration_.run.minibatch_size), rate,
               times.io_seconds, times.step_seconds},
              provenance_);
  const output::Metric rate_metric{kRate, learning_rate, output::Digits::significant};
  if (rate_in_table_) {
    metrics.push_back(rate_metric);
  }
  updates_.add(step, metrics);
  if (step % configuration_.mode.logging_iteration == 0) {
    output::StepTiming timing{{}, times.io_seconds, times.step_seconds, provenance_};
    if (!first_line_) {
      timing.images_per_second = rate;
    }
    log_.routine(output::metrics_line(Series::train, step, metrics, timing));
  }
  first_line_ = false;
  if (update_board_ && step % configuration_.mode.summary_iteration == 0) {
    if (!rate_in_table_) {
      metrics.push_back(rate_metric);
    }
    update_board_->add_scalars(step, metrics);
  }
}

void RunOutputs::add_validation(std::int64_t step, const output::Metrics& metrics) {
  validations_.add(step, metrics);
  log_.routine(
      output::metrics_line(Series::test, step, metrics,
                           {.images_per_second = images_per_second(), .provenance = provenance_}));
  if (!configuration_.run.saver) {
    return;
  }
  if (!validation_board_) {
    validation_board_.emplace(folder_ / "test", first_step_);
  }
  validation_board_->add_scalars(step, metrics);
}

bool RunOutputs::wants_images(std::int64_t step) const {
  // Every entry of TensorBoard has a number, every so many of them images.
  const std::int64_t between = configuration_.mode.summary_iteration;
  return run::shows_images(configuration_) && step % between == 0 &&
         step / between % kImageIteration == 0;
}

void RunOutputs::add_images(std::int64_t step, const SummaryEvent& event) {
  add_summary_images(*update_board_, step, event);
}

}  // namespace cosmic::train
