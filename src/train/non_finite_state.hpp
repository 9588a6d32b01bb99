// The end of a run whose state is no longer all numbers although its loss is: running statistics,
// which no update divides by, overflow first.
#pragma once

#include <cstdint>
#include <filesystem>

#include "checkpoint/finite.hpp"
#include "core/error.hpp"

namespace cosmic::train {

/// The state was not saved. What the message says, for programs.
struct NonFiniteState : DataError {
  /// `newest` is the checkpoint before; empty if there is none.
  NonFiniteState(std::int64_t step, double loss, checkpoint::NonFinite found,
                 std::filesystem::path newest);

  std::int64_t step;            ///< updates made
  checkpoint::NonFinite found;  ///< the first tensor
  std::filesystem::path newest;
};

}  // namespace cosmic::train
