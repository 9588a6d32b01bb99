// Where a training begins: at a checkpoint of its own that an earlier start left, at the weights of
// another run, or at none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "config/configuration.hpp"
#include "output/run_log.hpp"

namespace cosmic::train {

/// The note of a run's checkpoints that says with which step it began, if that is not 0.
inline constexpr const char* kBeganNote = "began_at";

struct StartingPoint {
  std::optional<checkpoint::Checkpoint> checkpoint;  ///< until it has been given to the model
  bool own = false;                                  ///< of this run, not weights of another
  /// The run has checkpoints of later steps than the one it goes on from.
  bool steps_abandoned = false;

  /// The step with which the run began: that of the weights of another run, or 0. `step` is that of
  /// this start.
  std::int64_t began_at(std::int64_t step) const;
};

/// Looks into `checkpoints`, the folder of the run, then at mode.weights_location. Seeds that
/// nobody gave are those of the checkpoint, or drawn. Throws UserError if the settings do not go
/// with the checkpoint.
StartingPoint find_starting_point(config::Configuration& configuration,
                                  const std::filesystem::path& checkpoints, output::RunLog& log);

void log_warnings(output::RunLog& log, const std::vector<checkpoint::Warning>& warnings);

}  // namespace cosmic::train
