// Constants that are fitted to rows: those that a description calls calibrated, each with the rows
// that it was fitted to. The same constant of several machines or stacks is one, with one value.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validation/comparisons.hpp"

namespace cosmic::validation {

/// A calibrated figure, by its name and by what it was fitted to.
struct Constant {
  std::string name;
  std::vector<std::string> rows;

  auto operator<=>(const Constant&) const = default;
};

using Constants = std::map<Constant, double>;

/// Those of the machines of the rows that were fitted to rows of the page, as they are shipped.
Constants shipped_constants(const std::vector<PreparedRow>& rows);

/// Those of one row's machine.
std::vector<Constant> constants_of(const PreparedRow& row);

/// The machine with these values.
machine::Description with_constants(machine::Description machine, const Constants& constants);

/// Least squares of the logarithms of predicted over published, one constant after the other, a few
/// times over. A constant has its own rows, less the one that is left out; one whose last row is
/// left out stays as it is. Only constants of `fitted` change.
Constants fit(const std::vector<PreparedRow>& rows, Constants constants,
              const std::vector<Constant>& fitted, const std::string& left_out);

}  // namespace cosmic::validation
