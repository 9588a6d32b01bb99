// The numbers of one step, under the reference's names and in its order (loss first, averages,
// planes, rates), as the CSV file, the log and TensorBoard take them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cosmic::output {

/// How a number is written into a table.
enum class Digits {
  five_decimals,  ///< as the reference writes them
  significant,    ///< six digits, however small it is
};

struct Metric {
  std::string key;
  double value = 0;
  Digits digits = Digits::five_decimals;

  bool operator==(const Metric&) const = default;
};

using Metrics = std::vector<Metric>;

/// Whose numbers: training batches, validation batches, or those of an inference run ("analysis").
enum class Series { train, test, ana };

std::string to_string(Series series);

}  // namespace cosmic::output
