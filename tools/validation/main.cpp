// Writes docs/models.md; with --record, machines/track_record.yaml; with --fit, what each
// calibrated figure would be if it were fitted again; with --if KIND STACK FIGURE VALUE, how far
// rows of that stack on that kind of machine (cpu, gpu, ...) would be off if an assumed figure were
// another.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "validation/fitting.hpp"
#include "validation/models_page.hpp"

namespace {

using namespace cosmic::validation;

void print_fit() {
  const std::vector<PreparedRow> rows = prepared_rows();
  const Constants shipped = shipped_constants(rows);
  std::vector<Constant> all;
  for (const auto& [constant, value] : shipped) {
    all.push_back(constant);
  }
  const Constants fitted = fit(rows, shipped, all, "");
  for (const auto& [constant, value] : shipped) {
    fmt::print("{}, fitted to", constant.name);
    for (const std::string& row : constant.rows) {
      fmt::print(" {}", row);
    }
    fmt::print(": {:.4g} now, {:.4g} fitted\n", value, fitted.at(constant));
  }
}

/// Which rows are meant.
struct Of {
  std::string kind;  ///< judged_with
  std::string stack;

  bool has(const PreparedRow& row) const {
    return row.run.machine.judged_with == kind && row.run.machine.stack().name == stack;
  }
};

/// The same rows with another value of a figure on that stack, and all constants fitted again.
std::vector<PreparedRow> with_figure(std::vector<PreparedRow> rows, const Of& of,
                                     const std::string& figure, double value) {
  for (PreparedRow& row : rows) {
    if (of.has(row)) {
      row.run.machine = cosmic::machine::with_unknown(row.run.machine, figure, value);
    }
  }
  const Constants shipped = shipped_constants(rows);
  std::vector<Constant> all;
  for (const auto& [constant, before] : shipped) {
    all.push_back(constant);
  }
  const Constants fitted = fit(rows, shipped, all, "");
  for (PreparedRow& row : rows) {
    row.run.machine = with_constants(row.run.machine, fitted);
  }
  return rows;
}

int print_if(const Of& of, const std::string& figure, double value) {
  const std::vector<PreparedRow> shipped = prepared_rows();
  const std::vector<FigureRow> before = figure_rows(shipped);
  const std::vector<FigureRow> after = figure_rows(with_figure(shipped, of, figure, value));
  double squares_before = 0;
  double squares_after = 0;
  int judging = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!of.has(shipped[i]) || !before[i].judges()) {
      continue;
    }
    fmt::print("{:<28} {:+6.1f} % as shipped, {:+6.1f} % with {} = {:g}\n", before[i].spec.id,
               100 * before[i].error(), 100 * after[i].error(), figure, value);
    squares_before += std::pow(std::log1p(before[i].error()), 2);
    squares_after += std::pow(std::log1p(after[i].error()), 2);
    ++judging;
  }
  if (judging == 0) {
    fmt::print(stderr, "models_page: no row judges the stack '{}' of {}\n", of.stack, of.kind);
    return 2;
  }
  fmt::print("root mean square of the logarithms: {:.3f} as shipped, {:.3f} so\n",
             std::sqrt(squares_before / judging), std::sqrt(squares_after / judging));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "--fit") {
    print_fit();
  } else if (what == "--if" && argc == 6) {
    try {
      return print_if({argv[2], argv[3]}, argv[4], std::strtod(argv[5], nullptr));
    } catch (const cosmic::UserError& error) {
      fmt::print(stderr, "models_page: {}\n", error.what());
      return 2;
    }
  } else if (what == "--record") {
    fmt::print("{}", record_text(figure_rows(prepared_rows())));
  } else if (what.empty()) {
    const std::vector<PreparedRow> rows = prepared_rows();
    fmt::print("{}", models_page(rows, figure_rows(rows)));
  } else {
    fmt::print(stderr, "usage: models_page [--fit | --record | --if KIND STACK FIGURE VALUE]\n");
    return 2;
  }
}
