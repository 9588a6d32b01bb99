// Is what a target makes of a program right? Runs a plan on it twice, once as it is and once with
// every stored value handed back, and holds each value against the reference in the same formats.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compile/plan.hpp"
#include "target/check/check_values.hpp"
#include "target/target.hpp"

namespace cosmic::target::check {

/// What a run begins with, row-major.
struct ProgramData {
  std::vector<std::vector<std::byte>> inputs;  ///< in the order of the graph's
  std::map<std::string, std::vector<std::byte>> states;
};

/// One result of the whole program, where the errors of all steps meet. How far they carry is the
/// network's doing, not the target's: a deep network that was never trained makes a difference of
/// one rounding into one of percents. So this says how much of the way the target and the reference
/// go together, and what one more rounding of inputs and weights does to the reference.
struct ResultCheck {
  std::string name;       ///< of the output
  double scale = 0;       ///< root mean square of the reference's
  double difference = 0;  ///< of target and reference, root mean square
  double rounding = 0;    ///< of the reference with and without the additional rounding, likewise
};

struct ProgramCheck {
  std::vector<ValueCheck> values;
  std::vector<ResultCheck> results;
  /// Whether the run that was observed and the run of the program as it is gave the same bits. If
  /// not, `values` has both.
  bool same_bits = true;
  /// States after a run of the program as it is: what the next program begins with.
  std::map<std::string, std::vector<std::byte>> states;

  std::size_t count(Verdict verdict) const;
  bool passed() const;
};

/// Compares results of the whole program too, which takes as long again.
enum class WholeProgram { no, yes };

/// The plan was made for the target. Where it scales its loss and a gradient is not finite, the
/// scale is halved until all are, so that there is a step to check. `progress` is called with how
/// many values of how many have been looked at.
ProgramCheck check_program(
    const Target& target, const compile::Plan& plan, const ProgramData& data,
    const CompileOptions& options, WholeProgram whole, const CheckLimits& limits = {},
    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

}  // namespace cosmic::target::check
