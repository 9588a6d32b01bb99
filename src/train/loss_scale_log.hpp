// What a run says about the scale of its loss (run.precision=mixed): how large it is, when it
// changes, and when it has been too small for too long.
#pragma once

#include <cstdint>
#include <optional>

#include "output/run_log.hpp"
#include "session/step_result.hpp"

namespace cosmic::train {

class LossScaleLog {
 public:
  /// Steps with a scale below 1 after which somebody should look after it.
  static constexpr std::int64_t kLong = 100;

  explicit LossScaleLog(output::RunLog& log) : log_(log) {}

  /// After each step; says nothing of one whose loss is not scaled.
  void add(std::int64_t step, const session::StepResult& result);

 private:
  void say_change(std::int64_t step, double scale, std::int64_t skipped);
  void warn_of_small(std::int64_t step, double scale);

  output::RunLog& log_;
  std::optional<double> scale_;   ///< of the next step; none before the first
  std::int64_t small_steps_ = 0;  ///< in a row
};

}  // namespace cosmic::train
