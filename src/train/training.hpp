// A training run from its configuration to its last checkpoint: the reference's order of events
// (validate, update, checkpoint), its log and its files, and an end that is never silent. A run
// that was stopped, however, goes on with the same bits if it is started again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/configuration.hpp"
#include "core/provenance.hpp"
#include "machine/event_rate.hpp"
#include "output/metrics.hpp"
#include "output/run_log.hpp"
#include "train/non_finite_loss.hpp"
#include "train/non_finite_state.hpp"

namespace cosmic::train {

/// Where a run is, for who shows it.
struct TrainingProgress {
  std::int64_t step = 0;  ///< updates made
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;  ///< where the run ends; 0 if it has no end of its own
  double loss = 0;
  double accuracy = 0;  ///< without background
  double mean_iou = 0;
  double images_per_second = 0;
  double waiting_share = 0;                      ///< of the time, for data
  Provenance provenance = Provenance::measured;  ///< of rate and shares
  std::optional<machine::EventRate> modelled;    ///< of a machine that is not here
};

struct TrainingHooks {
  std::function<void(double done, const std::string& what)> compiling = {};
  std::function<void(const TrainingProgress&)> progress = {};
  /// Asked after each update: should the run end here, with a checkpoint? Of several processes any
  /// may want to.
  std::function<bool()> stop_requested = {};
};

enum class Ending { complete, stopped, out_of_time, no_improvement };

struct TrainingSummary {
  Ending ending = Ending::complete;
  std::int64_t first_step = 0;
  std::int64_t steps = 0;  ///< updates of the whole run, earlier starts included
  double seconds = 0;
  double waiting_share = 0;
  Provenance provenance = Provenance::measured;  ///< of what is said about time
  output::Metrics last_training;
  output::Metrics last_validation;   ///< empty without validation
  std::filesystem::path checkpoint;  ///< the newest; empty if none was written
  std::filesystem::path output_folder;
};

/// `target` is the name of the target to run on. Throws UserError for a configuration that cannot
/// be or that does not go with the checkpoint it would take up, DataError for files; NonFiniteLoss
/// if the loss stops being a number, with the state before that update in a checkpoint;
/// NonFiniteState if the state does before a checkpoint of it is written.
///
/// With a communicator, its processes make one run together: each calls this with the same settings
/// and computes a part of every batch. The first reads and writes all files but the profiles of the
/// others; an error that one of them throws is for the caller to tell the others.
TrainingSummary train(const config::Configuration& configuration, const std::string& target,
                      output::RunLog& log, const TrainingHooks& hooks = {},
                      comm::Communicator* communicator = nullptr);

/// What a run would be.
struct DryRun {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;  ///< 0 if it has no end of its own
  /// Of all programs with their states and, where they share the host's memory, of the batches.
  std::int64_t memory_bytes = 0;
  /// Of this host for new things; none where a device's own memory was planned and is enough.
  std::optional<std::int64_t> available_bytes = {};

  bool fits() const { return !available_bytes || memory_bytes <= *available_bytes; }
};

/// Checks all that train() checks, compiles the programs and writes nothing. Throws as train()
/// does.
DryRun dry_run(const config::Configuration& configuration, const std::string& target,
               output::RunLog& log, const TrainingHooks& hooks = {});

}  // namespace cosmic::train
