#include "report/profile/run_profile.hpp"

#include <algorithm>

namespace cosmic::report::profile {

std::vector<TimeShare> with_rest(std::vector<TimeShare> parts, const std::string& what,
                                 double whole_seconds) {
  double rest = whole_seconds;
  for (const TimeShare& part : parts) {
    rest -= part.seconds;
  }
  parts.push_back({what, rest});
  return parts;
}

void RunProfile::take(const OpTimes& times) {
  steps = times.steps();
  steps_left_out = times.left_out();
  call_seconds = times.call_seconds();
  ops = times.ops();
}

std::string origin_of_peak(const session::Machine& machine) {
  return machine.peak && !machine.peak->origin.empty() ? machine.peak->origin
                                                       : to_string(machine.provenance);
}

std::optional<double> least_seconds(const OpProfile& op, const session::Machine& machine) {
  if (!machine.peak || (op.cost.flops <= 0 && op.cost.bytes <= 0)) {
    return std::nullopt;
  }
  return std::max(op.cost.flops / machine.peak->flops_per_second,
                  op.cost.bytes / machine.peak->bytes_per_second);
}

std::optional<double> roofline_share(const OpProfile& op, const session::Machine& machine) {
  const std::optional<double> least = least_seconds(op, machine);
  return least && op.seconds > 0 ? std::optional(*least / op.seconds) : std::nullopt;
}

}  // namespace cosmic::report::profile
