// Predictions held against figures that others published or that were measured, one row for each.
// docs/models.md is made from these rows, and tests check the errors that are allowed.
#pragma once

#include <string>
#include <vector>

#include "machine/prediction.hpp"

namespace cosmic::validation {

/// Where the figure that a prediction is held against comes from.
enum class Evidence { published, measured };

/// What kind of row it is: its part of the page.
enum class Topic { ipu, hpu, rdu, gpu, cpu };

struct FigureRow {
  std::string id;  ///< for tests
  Topic topic = Topic::ipu;
  std::string workload;
  std::string machine;
  std::string how;   ///< batch, formats, options
  std::string unit;  ///< of all four numbers
  double predicted = 0;
  double low = 0;  ///< of its error bar
  double high = 0;
  double figure = 0;
  Evidence evidence = Evidence::published;
  std::string source;
  std::string calibrated = {};  ///< what was fitted to this row, if anything was
  std::string words = {};       ///< why they differ, where there is something to say

  /// Relative error: 0.1 is 10 % too much.
  double error() const { return predicted / figure - 1; }
};

struct FitRow {
  std::string workload;
  std::string machine;
  std::string how;
  machine::Fit predicted = machine::Fit::yes;
  machine::MemoryVerdict verdict;
  bool published_fits = true;
  std::string source;

  /// By the side of the limit that the best estimate is on.
  bool right() const { return likely(predicted) == published_fits; }
};

struct UnpredictedRow {
  std::string workload;
  std::string machine;
  std::string figure;
  std::string reason;
};

/// Takes about two seconds.
std::vector<FigureRow> figure_rows();
std::vector<FitRow> fit_rows();
std::vector<UnpredictedRow> unpredicted_rows();

/// Throws InternalError if there is no row with that id.
const FigureRow& row(const std::vector<FigureRow>& rows, const std::string& id);

}  // namespace cosmic::validation
