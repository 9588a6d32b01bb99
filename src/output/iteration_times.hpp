// How long the iterations of a run took: as much as the report at its end asks for, however many
// they were.
#pragma once

#include <cstdint>
#include <vector>

namespace cosmic::output {

struct IterationTimes {
  /// The report leaves out up to two iterations, which pay for warming up, and tells the last forty
  /// on their own.
  static constexpr std::size_t kFirst = 2;
  static constexpr std::size_t kLast = 40;

  std::int64_t count = 0;
  double seconds = 0;         ///< all of them
  std::vector<double> first;  ///< seconds of each, at most kFirst
  std::vector<double> last;   ///< seconds of each, at most kLast
};

}  // namespace cosmic::output
