// Each stored value of a program against the reference, on its own: computed in double from the
// very operands that the target had, it may differ by what rounding can do in this one step, and by
// nothing else. Errors do not add up from layer to layer, so an untrained network of any depth can
// be checked as sharply as a single layer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "target/reference/tensor.hpp"

namespace cosmic::target::check {

enum class Verdict {
  sound,
  /// Within its bound, but the bound is as large as the value: it could be anything.
  proves_nothing,
  wrong,
};

/// What came of one value. Where every element is exact the bound is 0.
struct ValueCheck {
  graph::ValueId value;
  std::string layer;  ///< the name of its node
  std::string op;
  bool as_it_is = false;  ///< of the run that was not observed
  graph::TensorType type;
  NumberFormat format = NumberFormat::f32;

  double scale = 0;  ///< root mean square of the value
  /// |target - reference| and the bound, of the element that comes closest to its bound or lies
  /// farthest beyond it.
  double error = 0;
  double bound = 0;
  /// Root mean square of all errors, each in units of what is expected there: about 1 where a
  /// value is rounded to few bits, less where sums are added up better than one by one.
  double spread = 0;
  Verdict verdict = Verdict::sound;

  /// error / bound; infinite where nothing may be off and something is.
  double share() const;
};

/// The most that is sound. Expected errors are standard deviations of what rounding does to a
/// straightforward computation.
struct CheckLimits {
  double deviations = 8;  ///< of one element beyond half a unit of its format
  double spread = 2;      ///< of all elements of a value
};

/// What a target had of the values of a program, as tensors.
struct TargetValues {
  /// Inputs and states as they were handed over.
  std::function<reference::Tensor(graph::ValueId)> given;
  /// What is stored in the run that is observed; not asked for states.
  std::function<reference::Tensor(graph::ValueId)> observed;
  /// Outputs and updates once more, from a run of the program as it is; nothing for other values,
  /// and nothing where both have the same bits.
  std::function<std::optional<reference::Tensor>(graph::ValueId)> as_it_is;
  /// Was it computed at all? An update is not where what guards it is not finite.
  std::function<bool(graph::ValueId)> is_made = [](graph::ValueId) { return true; };
  /// Called with how many nodes of how many have been looked at; empty for none.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// One for each value that is stored, in program order, and one more where a run of the program as
/// it is gave another result than the run that was observed.
std::vector<ValueCheck> check_values(const graph::Graph& graph, const TargetValues& values,
                                     const CheckLimits& limits = {});

}  // namespace cosmic::target::check
