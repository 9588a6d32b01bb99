#include "validation/comparisons.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "run/explain.hpp"
#include "validation/fitting.hpp"

namespace cosmic::validation {
namespace {

constexpr double kMillisecond = 1e-3;

PreparedRow prepared(const RowSpec& spec) {
  const run::RunChoice choice = choice_of(spec.settings, spec.options);
  run::PreparedRun run = run::prepared_run(run::machine_of(choice.configuration.run), choice);
  const machine::Judged judged = spec.quantity == Quantity::bytes ? machine::Judged::memory
                                 : run.program.workload.trains()  ? machine::Judged::training
                                                                  : machine::Judged::inference;
  return {spec, judged, std::move(run)};
}

/// In the unit of the figure.
double quantity_of(const PreparedRow& row, double seconds, double bytes) {
  switch (row.spec.quantity) {
    case Quantity::rate:
      return row.run.events / seconds;
    case Quantity::milliseconds:
      return seconds / kMillisecond;
    case Quantity::bytes:
      break;
  }
  return bytes;
}

FigureRow figure_row(const PreparedRow& row) {
  const machine::Prediction p =
      machine::predict(row.run.machine, row.run.program, row.run.execution);
  const auto at = [&](machine::ModelledTime time, machine::ModelledBytes bytes) {
    return quantity_of(row, time.modelled_seconds(), bytes.modelled_bytes());
  };
  FigureRow result{.spec = row.spec,
                   .machine = row.run.machine.name,
                   .stack = row.run.machine.stack().name,
                   .judged_with = row.run.machine.judged_with,
                   .judged = row.judged};
  result.predicted = at(p.step.best, p.memory.needed);
  const double one = at(p.step.low, p.memory.needed_low);
  const double other = at(p.step.high, p.memory.needed_high);
  result.low = std::min(one, other);
  result.high = std::max(one, other);
  return result;
}

/// Adds which constants were fitted to the row, and what comes out if they are fitted without it.
void leave_out(const std::vector<PreparedRow>& rows, const PreparedRow& row,
               const Constants& shipped, FigureRow& result) {
  std::vector<Constant> refitted;
  bool others = true;
  for (const Constant& constant : constants_of(row)) {
    if (std::find(constant.rows.begin(), constant.rows.end(), row.spec.id) != constant.rows.end()) {
      refitted.push_back(constant);
      result.fitted.push_back(constant.name);
      others = others && constant.rows.size() > 1;
    }
  }
  if (!refitted.empty() && others) {
    const Constants without = fit(rows, shipped, refitted, row.spec.id);
    const double ratio = row.ratio(with_constants(row.run.machine, without));
    result.left_out =
        row.spec.quantity == Quantity::rate ? row.spec.figure / ratio : row.spec.figure * ratio;
  }
}

}  // namespace

run::RunChoice choice_of(const std::vector<std::string>& settings,
                         const run::ExplainOptions& options) {
  const config::Resolved resolved = config::parse(
      settings, {.command = config::Command::explain, .missing = config::MissingKeys::leave});
  return run::choice_of(resolved.configuration, options);
}

double PreparedRow::ratio(const machine::Description& machine) const {
  const machine::BestEstimate best = machine::best_estimate(machine, run.program, run.execution);
  const double predicted =
      quantity_of(*this, best.step.modelled_seconds(), best.needed.modelled_bytes());
  return spec.quantity == Quantity::rate ? spec.figure / predicted : predicted / spec.figure;
}

std::vector<PreparedRow> prepared_rows() {
  std::vector<PreparedRow> rows;
  for (const RowSpec& spec : row_specs()) {
    rows.push_back(prepared(spec));
  }
  return rows;
}

bool FigureRow::inside() const {
  // The bar is around the shipped prediction; what was predicted without the row has its own place.
  const double moved = held_out() / predicted;
  return low * moved <= spec.figure && spec.figure <= high * moved;
}

std::vector<FigureRow> figure_rows(const std::vector<PreparedRow>& rows) {
  const Constants shipped = shipped_constants(rows);
  std::vector<FigureRow> result;
  for (const PreparedRow& row : rows) {
    result.push_back(figure_row(row));
    leave_out(rows, row, shipped, result.back());
  }
  return result;
}

std::vector<machine::Deviation> deviations(const std::vector<FigureRow>& rows) {
  std::vector<machine::Deviation> result;
  for (const FigureRow& row : rows) {
    if (row.judges()) {
      const double ratio = row.held_out() / row.spec.figure;
      result.push_back(
          {.row = row.spec.id,
           .group = row.judged_with,
           .judged = row.judged,
           .predicted_to_published = row.spec.quantity == Quantity::rate ? 1 / ratio : ratio});
    }
  }
  return result;
}

std::string record_text(const std::vector<FigureRow>& rows) {
  std::string text =
      "# How far predictions were from the rows of docs/models.md that nothing was fitted to, or "
      "that were\n# left out of the fit: times or bytes. Written by `models_page --record`; a test "
      "fails if it is not\n# what that writes.\n";
  for (const machine::Deviation& deviation : deviations(rows)) {
    text += fmt::format("- {{row: {}, judged_with: {}, of: {}, predicted_to_published: {:.3f}}}\n",
                        deviation.row, deviation.group, to_string(deviation.judged),
                        deviation.predicted_to_published);
  }
  return text;
}

std::vector<FitRow> fit_rows() {
  std::vector<FitRow> rows;
  for (const FitSpec& spec : fit_specs()) {
    const run::RunChoice choice = choice_of(spec.settings, spec.options);
    const machine::Description machine = run::machine_of(choice.configuration.run);
    rows.push_back({spec, run::predicted_run("", machine, choice).prediction.memory});
  }
  return rows;
}

const FigureRow& row(const std::vector<FigureRow>& rows, const std::string& id) {
  for (const FigureRow& candidate : rows) {
    if (candidate.spec.id == id) {
      return candidate;
    }
  }
  throw InternalError("there is no comparison '" + id + "'");
}

}  // namespace cosmic::validation
