// The sentences of the reference's log that people and scripts read numbers from: the metrics of a
// step, the report of an inference run, the throughput at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/provenance.hpp"
#include "output/iteration_times.hpp"
#include "output/metrics.hpp"

namespace cosmic::output {

/// What a step's line says about time; each part only where it is known.
struct StepTiming {
  std::optional<double> images_per_second = {};  ///< since the line before, so not on the first
  std::optional<double> io_seconds = {};         ///< waited for data
  std::optional<double> step_seconds = {};       ///< forward, backward and update
  Provenance provenance = Provenance::measured;  ///< of all of them
};

/// "train Step 1 metrics: Average/mIoU: 0.00297, loss: 3.92 (0.15 Img/s / 0.036 IOs / 0.046
/// (Step)(s))". Of the metrics, those that belong on a console: accuracy without background, mIoU
/// and the loss.
std::string metrics_line(Series series, std::int64_t step, const Metrics& metrics,
                         const StepTiming& timing = {});

/// "Inference report: 3 batches processed for 6 entries." and one line per metric.
std::vector<std::string> inference_report(std::int64_t batches, std::int64_t entries,
                                          const Metrics& means);

/// The total time and the throughput without the first iterations, which pay for warming up. The
/// last word of "except first two iterations" is the reference's figure of merit.
std::vector<std::string> throughput_lines(const IterationTimes& times,
                                          std::int64_t images_per_iteration, Provenance provenance);

}  // namespace cosmic::output
