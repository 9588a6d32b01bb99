// One training run, as train() and dry_run() make it. Its topics have files of their own:
// training_start.cpp, training_data.cpp and training_files.cpp prepare it and keep its files,
// training_loop.cpp makes the updates, training_times.cpp says where its time goes.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/instance_checkpoints.hpp"
#include "comm/communicator.hpp"
#include "config/configuration.hpp"
#include "core/stopwatch.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "output/metrics.hpp"
#include "output/run_log.hpp"
#include "output/step_profile.hpp"
#include "run/hand_over.hpp"
#include "run/processes.hpp"
#include "run/profile_files.hpp"
#include "run/run_data.hpp"
#include "run/run_lock.hpp"
#include "session/model.hpp"
#include "train/exchange_times.hpp"
#include "train/loss_scale_log.hpp"
#include "train/non_finite_loss.hpp"
#include "train/rank_comparison.hpp"
#include "train/run_outputs.hpp"
#include "train/schedule.hpp"
#include "train/starting_point.hpp"
#include "train/stop_rules.hpp"
#include "train/straggler.hpp"
#include "train/training.hpp"
#include "train/update_batches.hpp"

namespace cosmic::train {

// Notes of a run's checkpoints.
inline constexpr const char* kBestNote = "best_validation";
inline constexpr const char* kValidationLoaderNote = "validation_loader";
inline constexpr const char* kValidationDataNote = "validation_data";
inline constexpr const char* kSharesNote = "shares";

/// Whether a run is made, or only looked at.
enum class Files { written, untouched };

/// What the processes of a run tell each other after each update.
struct Word {
  std::int32_t stop = 0;  ///< was it asked to?
  std::int32_t late = 0;  ///< is its time over?
  double worked_seconds = 0;
  RankComparison::Stretch stretch;  ///< since the word before
};

class TrainingRun {
 public:
  TrainingRun(config::Configuration configuration, const std::string& target, output::RunLog& log,
              const TrainingHooks& hooks, comm::Communicator* communicator,
              Files files = Files::written);

  /// What it would be, without making it.
  DryRun looked_at() const;
  /// To its end.
  TrainingSummary run();

 private:
  // ---- How a run begins: training_start.cpp.

  /// Settings are the leader's, who knows what an earlier start had and which seeds were drawn.
  void follow_leader();
  /// How a batch is divided; two runs with different shares round differently.
  std::string shares() const;
  /// Settings of what processes do together, where there is nobody to do it with.
  void note_idle_exchange();
  void describe_processes();
  /// Whose target says how it would like the data; what it runs depends on the data's size.
  void choose_target(const std::string& target);
  /// Among processes and their replicas.
  void divide(session::Options& options) const;
  /// Pixels are handed over for one replica; several divide images.
  run::HandOver hand_over(run::Calls calls, std::int64_t batches = 1) const;
  std::int64_t events_per_replica() const;
  void compile(const std::string& target);
  std::int64_t parameter_count() const;
  void take_up();
  /// Whoever starts a run that is complete may have meant something else.
  void note_nothing_left();
  std::int64_t state_bytes() const;
  std::int64_t batches_per_update() const {
    return configuration_.mode.optimizer.gradient_accumulation;
  }
  Provenance provenance() const { return model_->report().provenance; }

  // ---- The events of a run: training_data.cpp.

  void open_data();
  /// Other events to validate on do not change the training, but what its validations mean.
  void compare_validation_events();
  /// What is odd in events goes to the log, when it is first read and with its number at the end.
  run::Warn warn_of(const std::string& stream);
  /// Settings that were meant to do something with validations.
  std::string idle_without_validation() const;

  // ---- Its folder, tables and checkpoints: training_files.cpp.

  void lock_folder();
  void lock_new_folder();
  void save_configuration();
  void require_same_columns() const;
  void open_files();
  void open_instance_files();
  int kept_checkpoints() const;
  /// A run that was killed makes the steps after its newest checkpoint again, so their metrics are
  /// written again. Steps before another checkpoint are a result of their own.
  void set_metrics_aside();
  /// With the fingerprints of the events, which takes reading all of them.
  checkpoint::RunRecord run_record(const std::string& events, const std::string& validation) const;
  checkpoint::Writing checkpoint_now() const;
  void save();
  /// After the run's own, so that none is of a step that the run has no checkpoint of. What only
  /// the leader knows comes from there: every file holds the same.
  void save_instance();
  /// A state that no checkpoint takes is the end of the run; those before it stay.
  void require_finite(const std::function<void()>& save);
  std::filesystem::path checkpoint_folder() const { return folder_ / "checkpoints"; }

  // ---- Updates, validations and their end: training_loop.cpp.

  void iterate();
  void update();
  void fetch_next();
  /// The model has not made the update, so its state is the one before it.
  [[noreturn]] void stop_at_lost_loss();
  /// Of all processes.
  std::vector<BatchEvent> events_of_update() const;
  void record_update(double rate);
  void validate_once();
  const session::StepResult& validated(const data::Batch& batch);
  /// The same for all processes: whoever is asked to stop stops all, time is the leader's.
  std::optional<Ending> reason_to_stop();
  void show_progress();

  // ---- Where its time goes: training_times.cpp.

  /// Tells all how this process has spent its time since the word before.
  std::vector<Word> exchange_words(Word own = {});
  void name_straggler(const std::vector<Word>& words);
  double waiting_share() const;
  void report_times();
  void write_rank_profile(const std::filesystem::path& folder) const;
  run::ProfiledProgram profiled_program() const;
  run::ProfiledTimes profiled_times() const;

  Stopwatch whole_run_;  // first: what processes wait is part of it
  run::Processes processes_;
  config::Configuration configuration_;
  std::filesystem::path folder_;
  std::optional<run::RunLock> lock_;  // released after all files are closed
  output::RunLog& log_;
  LossScaleLog loss_scale_log_;
  const TrainingHooks& hooks_;
  model::UResNet network_;
  model::SegmentationLoss loss_;
  TimeLimit time_limit_;
  StartingPoint start_;  // its checkpoint until it has been given to the model
  session::Options session_options_;
  std::optional<session::TrainingModel> model_;
  std::optional<session::EvaluationModel> validation_;
  run::HandOver hand_over_;
  // After the models, whose targets' memory their batches lie in.
  std::unique_ptr<run::RunData> training_data_;
  std::unique_ptr<run::RunData> validation_data_;
  UpdateBatches current_;  // of the update that is being made
  UpdateBatches next_;
  bool next_fetched_ = false;
  std::exception_ptr next_error_;  // what fetching it ended with, if it did
  Schedule schedule_;
  BestValidation best_;
  std::string loader_state_;  // after the updates that were made, however far was read ahead
  std::optional<checkpoint::CheckpointFolder> checkpoints_;
  std::optional<checkpoint::InstanceCheckpoints> instance_checkpoints_;
  std::optional<RunOutputs> outputs_;
  output::StepProfile profile_;
  std::optional<report::profile::OpTimes> op_times_;  // only if a profile is asked for
  output::Metrics last_training_;
  output::Metrics last_validation_;
  std::span<const float> logits_;
  std::optional<std::int64_t> lost_replica_;  // of the last update, if its loss was lost
  StragglerWatch stragglers_;
  ExchangeTimes exchange_times_;
  double worked_seconds_ = 0;  // for the last update
  std::int64_t step_ = 0;      // updates made
  std::int64_t began_at_ = 0;  // step of the weights that the run began with
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = 0;
  std::int64_t saved_step_ = 0;
  std::int64_t images_ = 0;
  double waiting_seconds_ = 0;
  double writing_seconds_ = 0;  // of checkpoints, logs and metrics
  RankClock clock_;
  RankComparison comparison_;  // the leader's
};

}  // namespace cosmic::train
