// Predictions held against figures that others published or that were measured, one row for each.
// docs/models.md and machines/track_record.yaml are made from these rows. A row is a command: what
// it says is what `cosmictagger explain` says, by the same function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/track_record.hpp"
#include "run/explain_options.hpp"

namespace cosmic::validation {

/// Where the figure that a prediction is held against comes from.
enum class Evidence { published, measured };

/// Its part of the page.
enum class Topic { ipu, hpu, rdu, gpu, gpu_many, gpu_infer, pvc, ours, memory };

/// What the figure is: events (images, samples) per second on all machines together, milliseconds
/// per step, or bytes.
enum class Quantity { rate, milliseconds, bytes };

struct RowSpec {
  std::string id;  ///< in PUBLISHED figures, or a name
  Topic topic = Topic::ipu;
  std::string workload;  ///< for people: network, software, batch, number of machines
  double figure = 0;
  std::string source;
  std::vector<std::string> settings = {};  ///< of explain
  run::ExplainOptions options = {};
  Quantity quantity = Quantity::rate;
  Evidence evidence = Evidence::published;
  /// Why it cannot judge the model, though it can be computed; it then enters no error bar.
  std::string not_judged = {};
  std::string words = {};  ///< why they differ, where there is something to say
};

/// All rows, in the order of the page.
std::vector<RowSpec> row_specs();

/// What fitting needs of a row, worked out once.
struct PreparedRow {
  RowSpec spec;
  machine::Judged judged = machine::Judged::training;
  run::PreparedRun run;

  /// Predicted over published, of times or bytes, if the machine were so.
  double ratio(const machine::Description& machine) const;
  double ratio() const { return ratio(run.machine); }
};

std::vector<PreparedRow> prepared_rows();

struct FigureRow {
  RowSpec spec;
  std::string machine;
  std::string stack;
  std::string judged_with;
  machine::Judged judged = machine::Judged::training;
  double predicted = 0;  ///< in the unit of the figure
  double low = 0;        ///< of its error bar
  double high = 0;
  /// Names of figures that were fitted to this row among others.
  std::vector<std::string> fitted = {};
  /// The prediction of constants that were fitted without this row; nothing if no row would be
  /// left.
  std::optional<double> left_out = {};

  bool judges() const {
    return spec.not_judged.empty() && (fitted.empty() || left_out.has_value());
  }
  /// What judges the model: the prediction, or the one that was made without the row.
  double held_out() const { return left_out.value_or(predicted); }
  /// Relative error of it: 0.1 is 10 % too much.
  double error() const { return held_out() / spec.figure - 1; }
  bool inside() const;
};

std::vector<FigureRow> figure_rows(const std::vector<PreparedRow>& rows);

/// One for each row that judges.
std::vector<machine::Deviation> deviations(const std::vector<FigureRow>& rows);
/// machines/track_record.yaml.
std::string record_text(const std::vector<FigureRow>& rows);

struct FitSpec {
  std::string workload;
  bool published_fits = true;
  std::string source;
  std::vector<std::string> settings = {};
  run::ExplainOptions options = {};
};

struct FitRow {
  FitSpec spec;
  machine::MemoryVerdict verdict;

  /// By the side of the limit that the best estimate is on.
  bool right() const { return likely(verdict.fits) == spec.published_fits; }
};

std::vector<FitSpec> fit_specs();
std::vector<FitRow> fit_rows();

/// Sections of the plan that people wrote for a real RDU, against ours.
struct SectionRow {
  std::string workload;
  std::string published;
  std::size_t predicted = 0;
  std::vector<std::string> settings = {};
  run::ExplainOptions options = {};
};

std::vector<SectionRow> section_rows();

struct UnpredictedRow {
  std::string workload;
  std::string machine;
  std::string figure;
  std::string reason;
};

std::vector<UnpredictedRow> unpredicted_rows();

/// Throws InternalError if there is no row with that id.
const FigureRow& row(const std::vector<FigureRow>& rows, const std::string& id);

/// As the program reads it.
run::RunChoice choice_of(const std::vector<std::string>& settings,
                         const run::ExplainOptions& options);

}  // namespace cosmic::validation
