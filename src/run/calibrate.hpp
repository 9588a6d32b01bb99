// Fits the description of a machine to records of what such a machine did, and says how well
// records that were left out are predicted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/description.hpp"
#include "run/explain_options.hpp"
#include "run/records.hpp"

namespace cosmic::run {

/// A figure that was fitted.
struct Change {
  std::string figure;
  double before = 0;  ///< in its unit
  double after = 0;
  std::string unit;
  std::vector<std::string> records;
  bool stopped = false;  ///< at ten times the figure's range, though the records ask for more
};

/// One observation, against its prediction: 1.1 is 10 % too much.
struct Judgement {
  std::string record;
  Observation::Kind kind = Observation::Kind::step;
  double before = 1;
  double after = 1;
  std::optional<double> left_out =
      {};  ///< by a fit to the other records; nothing if there are none
};

struct Calibration {
  machine::Description machine;  ///< with one stack, the one that was fitted
  std::vector<Change> changes;
  std::vector<Judgement> judgements;
};

/// `options` hold for all records. For each kind of observation the figure with a range is fitted
/// that it depends on most; for steps a second one from three records on. Throws UserError if there
/// is nothing to fit to.
Calibration calibrate(const machine::Description& machine, const std::vector<Record>& records,
                      const ExplainOptions& options);

/// A table of what changed and of the errors.
std::string text_of(const Calibration& calibration);

}  // namespace cosmic::run
