#include "validation/fitting.hpp"

#include <algorithm>
#include <cmath>

namespace cosmic::validation {
namespace {

bool fits_to(const Constant& constant, const std::string& row) {
  return std::find(constant.rows.begin(), constant.rows.end(), row) != constant.rows.end();
}

/// Gauss-Newton in the logarithm of one constant.
double fitted_value(const std::vector<const PreparedRow*>& rows, Constants constants,
                    const Constant& constant) {
  constexpr int kIterations = 6;
  constexpr double kStep = 0.02;
  constexpr double kFarthest = 0.7;  // of one iteration, in the logarithm
  const auto residuals = [&](double value) {
    constants[constant] = value;
    std::vector<double> result;
    for (const PreparedRow* row : rows) {
      result.push_back(std::log(row->ratio(with_constants(row->run.machine, constants))));
    }
    return result;
  };
  double value = constants.at(constant);
  for (int i = 0; i < kIterations; ++i) {
    const std::vector<double> here = residuals(value);
    const std::vector<double> there = residuals(value * std::exp(kStep));
    double slope_square = 0;
    double product = 0;
    for (std::size_t k = 0; k < here.size(); ++k) {
      const double slope = (there[k] - here[k]) / kStep;
      slope_square += slope * slope;
      product += slope * here[k];
    }
    if (slope_square < 1e-6) {
      break;  // it makes no difference to its rows
    }
    value *= std::exp(std::clamp(-product / slope_square, -kFarthest, kFarthest));
  }
  return value;
}

}  // namespace

std::vector<Constant> constants_of(const PreparedRow& row) {
  std::vector<Constant> constants;
  for (const machine::Unknown& unknown : row.run.machine.unknowns) {
    if (unknown.figure.status == machine::Status::calibrated) {
      constants.push_back({unknown.figure.name, unknown.figure.fitted_to});
    }
  }
  return constants;
}

Constants shipped_constants(const std::vector<PreparedRow>& rows) {
  Constants constants;
  for (const PreparedRow& row : rows) {
    for (const Constant& constant : constants_of(row)) {
      const bool known = std::any_of(rows.begin(), rows.end(), [&](const PreparedRow& other) {
        return fits_to(constant, other.spec.id);
      });
      if (known) {
        constants[constant] = row.run.machine[constant.name];
      }
    }
  }
  return constants;
}

machine::Description with_constants(machine::Description machine, const Constants& constants) {
  for (machine::Unknown& unknown : machine.unknowns) {
    const auto found = constants.find({unknown.figure.name, unknown.figure.fitted_to});
    if (found != constants.end()) {
      unknown.figure.value = found->second;
    }
  }
  return machine;
}

Constants fit(const std::vector<PreparedRow>& rows, Constants constants,
              const std::vector<Constant>& fitted, const std::string& left_out) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    for (const Constant& constant : fitted) {
      std::vector<const PreparedRow*> own;
      for (const PreparedRow& row : rows) {
        if (row.spec.id != left_out && fits_to(constant, row.spec.id)) {
          own.push_back(&row);
        }
      }
      if (!own.empty()) {
        constants[constant] = fitted_value(own, constants, constant);
      }
    }
  }
  return constants;
}

}  // namespace cosmic::validation
