#include "report/profile/op_times.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace cosmic::report::profile {
namespace {

void add_to(OpProfile& sum, const OpProfile& op) {
  sum.ops += op.ops;
  sum.seconds += op.seconds;
  sum.cost.flops += op.cost.flops;
  sum.cost.bytes += op.cost.bytes;
}

std::vector<OpProfile> grouped(const std::vector<OpProfile>& ops, std::string OpProfile::*key) {
  std::map<std::string, OpProfile> groups;
  for (const OpProfile& op : ops) {
    OpProfile& group = groups.try_emplace(op.*key, OpProfile{.ops = 0}).first->second;
    group.*key = op.*key;
    add_to(group, op);
  }
  std::vector<OpProfile> result;
  for (auto& [name, group] : groups) {
    result.push_back(std::move(group));
  }
  return by_time(std::move(result));
}

}  // namespace

void OpTimes::add(double call_seconds, const std::vector<session::OpTiming>& timings) {
  if (sums_.empty()) {
    for (const session::OpTiming& timing : timings) {
      sums_.push_back({timing.op, timing.layer, graph::to_string(timing.type), 1, 0, timing.cost,
                       timing.riders, timing.evaluates});
    }
  }
  COSMIC_ASSERT(sums_.size() == timings.size());
  if (steps_ == 1 && left_out_ == 0) {
    left_out_ = 1;
    steps_ = 0;
    call_seconds_ = 0;
    for (OpProfile& sum : sums_) {
      sum.seconds = 0;
    }
  }
  ++steps_;
  call_seconds_ += call_seconds;
  all_call_seconds_ += call_seconds;
  double op_seconds = 0;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    sums_[i].seconds += timings[i].seconds;
    op_seconds += timings[i].seconds;
  }
  all_op_seconds_ += std::min(op_seconds, call_seconds);
}

double OpTimes::call_seconds() const {
  return steps_ > 0 ? call_seconds_ / static_cast<double>(steps_) : 0;
}

std::vector<OpProfile> OpTimes::ops() const {
  std::vector<OpProfile> means = sums_;
  for (OpProfile& op : means) {
    op.seconds /= static_cast<double>(std::max<std::int64_t>(steps_, 1));
  }
  return means;
}

std::vector<OpProfile> by_op(const std::vector<OpProfile>& ops) {
  return grouped(ops, &OpProfile::op);
}

std::vector<OpProfile> by_layer(const std::vector<OpProfile>& ops) {
  return grouped(ops, &OpProfile::layer);
}

std::vector<OpProfile> by_time(std::vector<OpProfile> ops) {
  std::stable_sort(ops.begin(), ops.end(),
                   [](const OpProfile& a, const OpProfile& b) { return a.seconds > b.seconds; });
  return ops;
}

OpProfile total(const std::vector<OpProfile>& ops) {
  OpProfile sum{.ops = 0};
  for (const OpProfile& op : ops) {
    add_to(sum, op);
  }
  return sum;
}

}  // namespace cosmic::report::profile
