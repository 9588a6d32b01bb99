// Where the time of a program went, op by op, over many steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "session/model.hpp"

namespace cosmic::report::profile {

/// An op, or several together. Time and cost are those of one step.
struct OpProfile {
  std::string op = {};
  std::string layer = {};
  std::string type = {};  ///< of the result; of several ops empty
  std::int64_t ops = 1;   ///< how many together
  double seconds = 0;
  graph::Cost cost = {};
  /// What its step computes along with it, and what it evaluates while it reads; of several ops
  /// empty.
  std::vector<std::string> riders = {};
  std::vector<std::string> evaluates = {};

  double flops_per_second() const { return seconds > 0 ? cost.flops / seconds : 0; }
  double bytes_per_second() const { return seconds > 0 ? cost.bytes / seconds : 0; }
  /// Arithmetic intensity.
  double flops_per_byte() const { return cost.bytes > 0 ? cost.flops / cost.bytes : 0; }
};

/// Sums up the timings of steps. The first step meets cold caches and pages that the system has yet
/// to give; it is left out of the means as soon as there is another.
class OpTimes {
 public:
  /// One call of the model, and where its time went.
  void add(double call_seconds, const std::vector<session::OpTiming>& timings);

  std::int64_t steps() const { return steps_; }        ///< in the means
  std::int64_t left_out() const { return left_out_; }  ///< before them
  /// Means: of one call, and of each op in program order.
  double call_seconds() const;
  std::vector<OpProfile> ops() const;

  /// Sums over all steps, the first too. Ops never take longer than their call here: a target whose
  /// programs cannot be timed inside times their steps one by one in a run of its own, where they
  /// cannot overlap.
  double all_call_seconds() const { return all_call_seconds_; }
  double all_op_seconds() const { return all_op_seconds_; }

 private:
  std::vector<OpProfile> sums_;
  double call_seconds_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t left_out_ = 0;
  double all_call_seconds_ = 0;
  double all_op_seconds_ = 0;
};

/// Ops of the same kind, or of the same layer, together; the slowest first.
std::vector<OpProfile> by_op(const std::vector<OpProfile>& ops);
std::vector<OpProfile> by_layer(const std::vector<OpProfile>& ops);
/// The slowest first.
std::vector<OpProfile> by_time(std::vector<OpProfile> ops);
/// All in one.
OpProfile total(const std::vector<OpProfile>& ops);

}  // namespace cosmic::report::profile
