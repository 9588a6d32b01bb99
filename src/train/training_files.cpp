// What a run leaves behind: its folder, its tables of metrics and its checkpoints.
#include "train/training_run.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include "checkpoint/checkpoint_file.hpp"
#include "config/dump.hpp"
#include "core/error.hpp"
#include "core/make_folder.hpp"
#include "core/pending_file.hpp"
#include "train/step_metrics.hpp"

namespace cosmic::train {

void TrainingRun::lock_folder() {
  lock_.emplace(folder_);
  if (!lock_->remark().empty()) {
    log_.warning(lock_->remark());
  }
}

void TrainingRun::lock_new_folder() {
  make_folder(folder_, "output_dir");
  lock_folder();
  std::vector<checkpoint::Warning> warnings;
  COSMIC_REQUIRE(
      UserError, checkpoint::find_checkpoints(checkpoint_folder(), warnings).empty(),
      folder_.string() << ": another training was made there while this one began (this one would "
                          "overwrite its checkpoints); run the command again to resume it, or give "
                          "another run.id or output_dir");
}

void TrainingRun::save_configuration() {
  const std::string yaml = config::to_yaml(configuration_);
  PendingFile file(folder_ / "config.yaml", Existing::replace);
  file.append(std::as_bytes(std::span(yaml)));
  file.commit();
}

void TrainingRun::require_same_columns() const {
  const std::vector<float> scores(model::score_names().size());
  session::StepResult any;
  any.scores = scores;
  if (session_options_.precision.loss_scaling.is_on()) {
    any.loss_scale = 0;
  }
  RunOutputs::require_same_columns(folder_, first_step_, metrics_of(any), provenance());
}

void TrainingRun::open_files() {
  if (!lock_) {
    lock_new_folder();
  }
  log_.open();
  remove_abandoned_files(folder_);
  remove_abandoned_files(folder_ / "profiles");
  save_configuration();
  checkpoints_.emplace(checkpoint_folder(), kept_checkpoints());
  log_warnings(log_, checkpoints_->settle(first_step_));
  set_metrics_aside();
  outputs_.emplace(configuration_, folder_, first_step_, provenance(), log_);
}

void TrainingRun::open_instance_files() {
  if (!configuration_.mode.instance_checkpoints) {
    return;
  }
  processes_.of_leader("the folder is this run's");  // nobody else writes there before
  instance_checkpoints_.emplace(checkpoint_folder(), processes_.rank(), kept_checkpoints());
  if (processes_.size() == 1) {
    log_.info(
        "mode.instance_checkpoints=true: there is one process, so each checkpoint is also "
        "written as model-<step>-0.safetensors.");
  }
}

int TrainingRun::kept_checkpoints() const {
  return static_cast<int>(std::min<std::int64_t>(configuration_.mode.keep_checkpoints, INT_MAX));
}

void TrainingRun::set_metrics_aside() {
  if (!start_.steps_abandoned) {
    return;
  }
  for (const output::Series series : {output::Series::train, output::Series::test}) {
    const std::filesystem::path file = output::metrics_csv_path(folder_, series);
    if (const auto aside = output::set_metrics_aside(file, first_step_)) {
      log_.warning(file.string() + ": has steps after " + std::to_string(first_step_) +
                   ", where the run goes on; all of it is kept as " + aside->string());
    }
  }
}

checkpoint::RunRecord TrainingRun::run_record(const std::string& events,
                                              const std::string& validation) const {
  checkpoint::RunRecord record;
  record.configuration = config::to_yaml(configuration_);
  record.schedule = std::to_string(step_);
  record.loader = loader_state_;
  record.data_fingerprint = events;
  record.notes[kBestNote] = best_.to_text();
  if (began_at_ != 0) {
    record.notes[kBeganNote] = std::to_string(began_at_);
  }
  if (shares() != "1 x 1") {
    record.notes[kSharesNote] = shares();
  }
  if (validation_data_) {
    record.notes[kValidationLoaderNote] = validation_data_->state();
    record.notes[kValidationDataNote] = validation;
  }
  return record;
}

checkpoint::Writing TrainingRun::checkpoint_now() const {
  return checkpoint::writing_of(
      *model_->state(), step_,
      run_record(training_data_->fingerprint(),
                 validation_data_ ? validation_data_->fingerprint() : ""));
}

void TrainingRun::save() {
  const auto timing = profile_.time(output::Phase::checkpoint);
  const Stopwatch watch;
  const double waited = processes_.waiting_seconds();
  if (checkpoints_) {
    require_finite([&] { log_warnings(log_, checkpoints_->save(checkpoint_now())); });
  }
  saved_step_ = step_;
  if (instance_checkpoints_) {
    save_instance();
  }
  writing_seconds_ += watch.seconds() - (processes_.waiting_seconds() - waited);
  time_limit_.checkpoint_took(watch.seconds());
}

void TrainingRun::save_instance() {
  const bool leads = processes_.lead();
  const std::string events = processes_.of_leader(leads ? training_data_->fingerprint() : "");
  const std::string validation =
      processes_.of_leader(leads && validation_data_ ? validation_data_->fingerprint() : "");
  log_warnings(log_, instance_checkpoints_->save(checkpoint::writing_of(
                         *model_->state(), step_, run_record(events, validation))));
}

void TrainingRun::require_finite(const std::function<void()>& save) {
  try {
    save();
  } catch (const checkpoint::NonFiniteCheckpoint& error) {
    const NonFiniteState lost(step_, value_of(last_training_, "loss"), error.found,
                              saved_step_ > 0 ? checkpoints_->file_of(saved_step_) : "");
    log_.error(lost.what());
    throw lost;
  }
}

}  // namespace cosmic::train
