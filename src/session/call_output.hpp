// One output of the micro-batches of a call, reduced as the output mode says, in memory that is
// made once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "session/options.hpp"

namespace cosmic::session {

class CallOutput {
 public:
  CallOutput() = default;
  /// `batches` results of `elements` numbers each.
  CallOutput(OutputMode mode, std::int64_t every, std::int64_t batches, std::size_t elements);

  /// The result of micro-batch `batch`; they come in order, from 0. The numbers must stay where
  /// they are until the last one has come and while values() is used.
  void take(std::int64_t batch, std::span<const float> result);
  /// None comes from micro-batch `batch` on: the numbers that would be made of theirs are NaN.
  void end_before(std::int64_t batch);

  std::span<const float> values() const { return values_; }

 private:
  void copy_to(std::int64_t place, std::span<const float> result);

  OutputMode mode_ = OutputMode::last;
  std::int64_t every_ = 1;
  std::int64_t batches_ = 1;
  std::int64_t elements_ = 0;  ///< of one result
  std::vector<float> kept_;    ///< empty where the last result is used in place
  std::span<const float> values_;
};

}  // namespace cosmic::session
