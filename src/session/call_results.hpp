// What a call with labels hands back: losses, scores and logits of its micro-batches, reduced.
// Losses and scores are those of all processes that train together, in the order of their ranks:
// what one process with as many replicas would have. They travel as one small vector per update.
// Logits are this process's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "session/call_output.hpp"
#include "session/call_shape.hpp"
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
  /// What the program has just computed for micro-batch `batch` of this process.
  void take(std::int64_t batch, const Program& program);
  /// After the last micro-batch of update `update`, or after one whose loss is not finite: brings
  /// those of all processes together. Are all losses finite? If not, the call has come to its end.
  bool complete_update(std::int64_t update);
  /// The same for who does not train and wants all results, whatever they are.
  void complete(std::int64_t update);
  /// What a program has just done that updates.
  void take_update(const Program& program);
  const StepResult& end();

 private:
  void bring_together();
  /// Number `i` of those that all processes have in an update. Returns its loss.
  float take_number(std::int64_t update, std::int64_t i);
  std::int64_t batches_of_all() const { return shape_.per_update() * processes_; }

  CallShape shape_;  ///< of this process
  comm::Communicator* communicator_ = nullptr;
  std::int64_t processes_ = 1;
  std::size_t width_ = 1;      ///< numbers of a micro-batch: its loss and its scores
  std::vector<float> own_;     ///< of the micro-batches of an update
  std::vector<float> of_all_;  ///< of all processes, one after the other
  double loss_sum_ = 0;
  std::optional<double> loss_scale_;
  std::optional<std::int64_t> lost_replica_;
  std::int64_t skipped_updates_ = 0;
  CallOutput losses_;
  CallOutput scores_;
  CallOutput logits_;
  StepResult result_;
};

}  // namespace cosmic::session
