#include "train/run_outputs.hpp"

#include <algorithm>

#include "output/report_lines.hpp"
#include "run/run_choices.hpp"

namespace cosmic::train {
namespace {

using output::Series;

// Two lines may fall into one tick of the clock.
constexpr double kShortestInterval = 1e-9;

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
      first_step_(first_step) {
  if (configuration.run.saver) {
    update_board_.emplace(folder / "train", first_step);
  }
}

double RunOutputs::images_per_second() {
  const double seconds = std::max(since_last_line_.seconds(), kShortestInterval);
  since_last_line_ = Stopwatch();
  return static_cast<double>(configuration_.run.minibatch_size) / seconds;
}

void RunOutputs::add_update(std::int64_t step, output::Metrics metrics, const UpdateTimes& times,
                            double learning_rate) {
  const double rate = images_per_second();
  const auto add_timing = [&](const char* key, double value) {
    metrics.push_back({marked(key, provenance_), value});
  };
  add_timing("global_step_per_sec", rate / static_cast<double>(configuration_.run.minibatch_size));
  add_timing("images_per_second", rate);
  add_timing("io_fetch_time", times.io_seconds);
  add_timing("step_time", times.step_seconds);
  updates_.add(step, metrics);
  if (step % configuration_.mode.logging_iteration == 0) {
    output::StepTiming timing{{}, times.io_seconds, times.step_seconds, provenance_};
    if (!first_line_) {
      timing.images_per_second = rate;
    }
    log_.info(output::metrics_line(Series::train, step, metrics, timing));
  }
  first_line_ = false;
  if (update_board_ && step % configuration_.mode.summary_iteration == 0) {
    metrics.push_back({"learning_rate", learning_rate});
    update_board_->add_scalars(step, metrics);
  }
}

void RunOutputs::add_validation(std::int64_t step, const output::Metrics& metrics) {
  validations_.add(step, metrics);
  log_.info(
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
