// What a training has left in its folder that can be held against another one: settings, curves and
// the figures at its end; and how it tags events, if somebody has measured that.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "report/evaluation/evaluation.hpp"
#include "report/evaluation/training_curve.hpp"

namespace cosmic::report::comparison {

/// A mean with its standard error.
struct Mean {
  double value = 0;
  double error = 0;  ///< NaN for a single number
  std::size_t count = 0;
};

Mean mean_of(const std::vector<double>& numbers);

/// Validations at the end of a curve that make a final figure; one is a single batch.
inline constexpr std::size_t kLastValidations = 10;

struct ComparedRun {
  std::string name;  ///< the folder as it was given
  config::Configuration configuration;
  evaluation::TrainingCurve curve;
  std::optional<evaluation::Evaluation> evaluated;  ///< on events that all runs tag
  std::vector<evaluation::EventView> views;         ///< of the events that are shown

  /// Over the last validations, or the last updates of a run without validation.
  Mean final_loss() const;
  Mean final_mean_iou() const;
  bool validated() const { return !curve.validation.empty(); }
};

/// Reads the folder of a run. Throws UserError if it is not one.
ComparedRun read_run(const std::filesystem::path& folder);

/// An event that is drawn as each run tags it, and why this one.
struct ShownEvent {
  std::size_t number = 0;  ///< of Evaluation::events
  std::string why;
};

/// Those where the runs differ most, one that is typical of all and the hardest, by the IoU of the
/// neutrino; each once, and none without a neutrino. The runs must be evaluated on the same events.
std::vector<ShownEvent> events_to_show(const std::vector<ComparedRun>& runs);

/// A key that not all runs have the same value of, and the value of each.
struct DifferentSetting {
  std::string key;
  std::vector<std::string> values;
};

/// Without those that only say where a run is: run.id and output_dir.
std::vector<DifferentSetting> different_settings(const std::vector<ComparedRun>& runs);

}  // namespace cosmic::report::comparison
