// What a call with labels hands back: losses, scores and logits of its micro-batches, reduced.
#pragma once

#include <cstdint>
#include <optional>

#include "session/call_output.hpp"
#include "session/options.hpp"
#include "session/program.hpp"
#include "session/step_result.hpp"

namespace cosmic::session {

class CallResults {
 public:
  CallResults() = default;
  /// Makes room for the outputs of `program` in a call of the given number of micro-batches.
  CallResults(const Options& options, const Program& program);

  void begin();
  /// What the program has just computed for micro-batch `batch`.
  void take(std::int64_t batch, const Program& program);
  /// What a program has just done that updates.
  void take_update(const Program& program);
  /// After the last one.
  const StepResult& end();
  /// Instead of take() for micro-batch `batch` and all that would follow.
  const StepResult& end_before(std::int64_t batch);

 private:
  std::int64_t batches_ = 1;
  double loss_sum_ = 0;
  std::optional<double> loss_scale_;
  std::int64_t skipped_updates_ = 0;
  CallOutput losses_;
  CallOutput scores_;
  CallOutput logits_;
  StepResult result_;
};

}  // namespace cosmic::session
