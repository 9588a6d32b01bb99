// What goes into a step and what comes out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "graph/tensor_type.hpp"

namespace cosmic::session {

/// Types of one micro-batch. A model is compiled for these and takes no others.
struct BatchTypes {
  graph::TensorType image;
  graph::TensorType label;
};

/// Results of one call, in memory the model owns: valid until the next call. A call of several
/// micro-batches has several results; Options::output_mode says which of them are here.
struct StepResult {
  double loss = 0;  ///< the mean over all micro-batches, whatever the output mode
  std::span<const float> losses;
  std::span<const float> scores;  ///< empty if the loss has none
  std::span<const float> logits;  ///< empty unless Options asked for them
  /// Of a training that scales its loss (compile::LossScaling): the scale of the next update. None
  /// if the call made no update, because its loss was lost.
  std::optional<double> loss_scale;
  /// Of a call that ended because a loss was not finite: the first replica with such a loss,
  /// counted over all processes.
  std::optional<std::int64_t> lost_replica;
  /// Updates of the call that were not made, because some gradient was not finite.
  std::int64_t skipped_updates = 0;
};

}  // namespace cosmic::session
