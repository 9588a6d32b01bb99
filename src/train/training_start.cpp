// How a run begins: its settings, its programs, and the state that they start from.
#include "train/training_run.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "checkpoint/checkpoint_file.hpp"
#include "config/dump.hpp"
#include "config/parse.hpp"
#include "config/value.hpp"
#include "core/process_memory.hpp"
#include "run/compile_log.hpp"
#include "run/output_folder.hpp"
#include "run/run_choices.hpp"
#include "train/run_length.hpp"

namespace cosmic::train {

TrainingRun::TrainingRun(config::Configuration configuration, const std::string& target,
                         output::RunLog& log, const TrainingHooks& hooks,
                         comm::Communicator* communicator, Files files)
    : processes_(communicator),
      configuration_(std::move(configuration)),
      folder_(run::output_folder(configuration_)),
      log_(log),
      loss_scale_log_(log),
      hooks_(hooks),
      network_(configuration_.network),
      loss_(run::loss_of(configuration_.mode.optimizer)),
      time_limit_(configuration_.run.max_time.seconds) {
  // Nothing is written until everything is checked: a run that is refused leaves its folder as it
  // was. Checkpoints are read under the lock, so that nobody adds one meanwhile.
  if (configuration_.data.synthetic) {  // of noise each process has a batch of its own
    configuration_.run.minibatch_size *= processes_.size();
  }
  if (processes_.lead()) {
    std::error_code unknown;
    if (files == Files::written && std::filesystem::is_directory(folder_, unknown)) {
      lock_folder();
    }
    start_ = find_starting_point(configuration_, checkpoint_folder(), log_);
  }
  follow_leader();
  log_.info("\n\n-- CONFIG --\n" + config::dump(configuration_));
  describe_processes();
  choose_target(target);
  open_data();
  compile(target);
  take_up();
  if (processes_.lead()) {
    require_same_columns();
  }
  if (files == Files::untouched) {
    return;
  }
  if (processes_.lead()) {
    open_files();
  }
  open_instance_files();
}

DryRun TrainingRun::looked_at() const {
  DryRun result{.first_step = first_step_, .last_step = last_step_};
  result.memory_bytes = model_->report().memory_bytes + state_bytes();
  if (validation_) {
    result.memory_bytes += validation_->report().memory_bytes;
  }
  if (!model_->report().device_memory) {
    for (const auto* const data : {training_data_.get(), validation_data_.get()}) {
      result.memory_bytes += data == nullptr ? 0 : data->memory_bytes();
    }
    // What this process has taken for the programs is part of what they need.
    result.available_bytes = available_bytes() + resident_bytes();
  }
  return result;
}

void TrainingRun::follow_leader() {
  if (processes_.size() == 1) {
    return;
  }
  const std::string settings = processes_.of_leader(config::to_yaml(configuration_));
  if (!processes_.lead()) {
    const config::Configuration own = configuration_;
    configuration_ = config::from_yaml(settings, "configuration of rank 0");
    // What each has of its host is its own.
    configuration_.run.device = own.run.device;
    configuration_.run.threads = own.run.threads;
    configuration_.data.threads = own.data.threads;
  }
}

std::string TrainingRun::shares() const {
  return std::to_string(processes_.size()) + " x " + std::to_string(configuration_.run.replicas);
}

void TrainingRun::note_idle_exchange() {
  const config::Configuration standard;
  if (processes_.size() == 1 && configuration_.network.synchronized_statistics) {
    log_.info(
        "network.synchronized_statistics=true has no effect: there is one process, and its batch "
        "statistics are those of the whole batch.");
  }
  if (processes_.size() > 1 || configuration_.run.replicas > 1) {
    return;
  }
  for (const char* const key : {"run.exchange_precision", "run.gradient_reduction"}) {
    const auto value = configuration_.get<std::string>(key);
    if (value != standard.get<std::string>(key)) {
      log_.info(std::string(key) + "=" + value +
                " has no effect: one process with one replica exchanges no gradients.");
    }
  }
}

void TrainingRun::describe_processes() {
  if (processes_.size() > 1) {
    log_.info(processes_.description() + "; each computes a part of every batch.");
  }
  note_idle_exchange();
  if (!start_.own || start_.checkpoint->run.configuration.empty()) {
    return;
  }
  const auto note = start_.checkpoint->run.notes.find(kSharesNote);
  const std::string before = note == start_.checkpoint->run.notes.end() ? "1 x 1" : note->second;
  if (before != shares()) {
    log_.warning("The run was made with processes x replicas = " + before + " and goes on with " +
                 shares() +
                 ": it starts at the same event, but adds up gradients in another order, so its "
                 "numbers will differ in their last digits.");
  }
}

void TrainingRun::choose_target(const std::string& target) {
  session_options_ = run::training_options(configuration_, target);
  session_options_.progress = hooks_.compiling;
  session_options_.replica_statistics = configuration_.run.broadcast_buffers
                                            ? session::ReplicaStatistics::first
                                            : session::ReplicaStatistics::mean;
  divide(session_options_);
  model_.emplace(network_, loss_, run::optimizer_of(configuration_.mode.optimizer),
                 session_options_);
  hand_over_ = hand_over(run::Calls::overlapping, batches_per_update());
}

void TrainingRun::divide(session::Options& options) const {
  options.replication_factor = configuration_.run.replicas;
  options.communicator = run::exchanging(configuration_.run, processes_.communicator());
  options.device = processes_.device(configuration_.run.device, options.target,
                                     configuration_.run.exchange == config::Exchange::host
                                         ? run::Sharing::allowed
                                         : run::Sharing::refused);
  options.threads = processes_.threads(configuration_.run.threads);
}

run::HandOver TrainingRun::hand_over(run::Calls calls, std::int64_t batches) const {
  return configuration_.run.replicas > 1 ? run::HandOver{}
                                         : run::hand_over(*model_, calls, batches);
}

std::int64_t TrainingRun::events_per_replica() const {
  return run::events_per_replica(configuration_.run.minibatch_size, processes_.size(),
                                 configuration_.run.replicas);
}

void TrainingRun::compile(const std::string& target) {
  if (configuration_.run.profile) {
    op_times_.emplace();
  }
  const session::CompileReport& report =
      model_->compile(run::batch_types(events_per_replica(), training_data_->shape()));
  log_.info("Total number of trainable parameters in this network: " +
            std::to_string(parameter_count()));
  if (configuration_.mode.weights_average > 0) {
    log_.info("A moving average of the weights is kept (mode.weights_average=" +
              config::to_text(configuration_.mode.weights_average) +
              "); validation uses it, and so do tagging and export of its checkpoints.");
  }
  run::log_compilation(log_, "the training step", report);
  run::log_prediction(log_, "the training step", report, configuration_.run.minibatch_size);
  if (validation_data_) {
    session::Options options = run::validation_options(configuration_, target);
    options.progress = hooks_.compiling;
    divide(options);
    options.averaged_weights = configuration_.mode.weights_average > 0;
    validation_.emplace(network_, loss_, options, model_->state());
    run::log_compilation(
        log_, "the validation",
        validation_->compile(run::batch_types(events_per_replica(), validation_data_->shape())));
  }
}

std::int64_t TrainingRun::parameter_count() const {
  std::int64_t count = 0;
  for (const std::string& name : model_->state()->names()) {
    if (model_->state()->kind(name) == graph::StateKind::parameter) {
      count += model_->state()->type(name).elements();
    }
  }
  return count;
}

void TrainingRun::take_up() {
  if (start_.checkpoint) {
    if (start_.checkpoint->origin == checkpoint::Origin::weights) {
      checkpoint::restore_weights(*start_.checkpoint, *model_->state());
    } else {
      checkpoint::restore(*start_.checkpoint, *model_->state());
      step_ = start_.checkpoint->step;
    }
    const auto note = start_.checkpoint->run.notes.find(kBestNote);
    if (start_.own && note != start_.checkpoint->run.notes.end()) {
      best_ = BestValidation::from_text(note->second);
    }
    began_at_ = start_.began_at(step_);
    start_.checkpoint.reset();  // its tensors are as large as the model
  }
  processes_.share(*model_->state());
  step_ = std::stoll(processes_.of_leader(std::to_string(step_)));
  best_ = BestValidation::from_text(processes_.of_leader(best_.to_text()));
  began_at_ = std::stoll(processes_.of_leader(std::to_string(began_at_)));
  first_step_ = step_;
  saved_step_ = start_.own ? step_ : 0;
  const std::int64_t updates_per_epoch =
      std::max<std::int64_t>(training_data_->epoch_size() / configuration_.run.minibatch_size, 1);
  last_step_ = last_step_of(configuration_.run, updates_per_epoch, {began_at_, first_step_});
  note_nothing_left();
  schedule_ = schedule_of(configuration_, training_data_->epoch_size(), last_step_);
  validate(schedule_);
  loader_state_ = training_data_->state();
}

void TrainingRun::note_nothing_left() {
  if (last_step_ > 0 && step_ >= last_step_) {
    log_.info("The run has made all of its " + std::to_string(last_step_ - began_at_) +
              " updates; nothing is left to do. For more, give a larger run.iterations, or "
              "run.restart=again for as many again.");
  }
}

std::int64_t TrainingRun::state_bytes() const {
  std::int64_t bytes = 0;
  for (const std::string& name : model_->state()->names()) {
    bytes += model_->state()->type(name).bytes();
  }
  return bytes;
}

}  // namespace cosmic::train
