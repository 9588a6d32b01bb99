#include "train/time_shares.hpp"

#include <algorithm>

namespace cosmic::train {

std::vector<report::profile::TimeShare> time_shares(const output::StepProfile& phases,
                                                    const report::profile::OpTimes& ops,
                                                    const session::CompileReport& compiled,
                                                    double seconds) {
  using output::Phase;
  const double pictures = phases.all_seconds(Phase::summary);
  // Sums of the same times in another order: what is nothing may come out as less.
  const auto rest = [](double whole, double part) { return std::max(0.0, whole - part); };
  return report::profile::with_rest(
      {
          {report::profile::kInsideProgram, ops.all_op_seconds()},
          {"copying batches in and results out",
           rest(ops.all_call_seconds(), ops.all_op_seconds())},
          {"keeping the state before each step, in case its loss is no number",
           rest(phases.all_seconds(Phase::step), ops.all_call_seconds())},
          {"waiting for data", phases.all_seconds(Phase::io)},
          {"writing logs and metrics", rest(phases.all_seconds(Phase::log), pictures)},
          {"drawing pictures for TensorBoard", pictures},
          {"validating", phases.all_seconds(Phase::val)},
          {"writing checkpoints", phases.all_seconds(Phase::checkpoint)},
          {"compiling the step", compiled.seconds},
      },
      "other: opening files, preparing validation", seconds);
}

}  // namespace cosmic::train
