// The updates and validations of a run, and what ends it.
#include "train/training_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "checkpoint/checkpoint_file.hpp"
#include "train/step_metrics.hpp"

namespace cosmic::train {

using output::Phase;

TrainingSummary TrainingRun::run() {
  const Stopwatch watch;
  exchange_words();  // the start, by itself
  Ending ending = Ending::complete;
  while (last_step_ == 0 || step_ < last_step_) {
    iterate();
    if (step_ == last_step_) {
      break;  // whoever asks it to stop now comes too late
    }
    if (const std::optional<Ending> early = reason_to_stop()) {
      ending = *early;
      break;
    }
  }
  // Who stops a run counts on going on from where it was.
  const bool goes_on = ending == Ending::stopped || ending == Ending::out_of_time;
  if ((configuration_.mode.final_checkpoint || goes_on) && step_ > first_step_ &&
      saved_step_ != step_) {
    save();
  }
  training_data_->finish();
  if (validation_data_) {
    validation_data_->finish();
  }
  report_times();
  TrainingSummary summary;
  summary.ending = ending;
  summary.first_step = first_step_;
  summary.steps = step_;
  summary.seconds = watch.seconds();
  summary.waiting_share = waiting_share();
  summary.provenance = provenance();
  summary.last_training = last_training_;
  summary.last_validation = last_validation_;
  summary.checkpoint = saved_step_ > 0 && checkpoints_ ? checkpoints_->file_of(saved_step_) : "";
  summary.output_folder = folder_;
  return summary;
}

void TrainingRun::iterate() {
  profile_.begin_iteration(step_);
  const Stopwatch iteration;
  const double waited = processes_.waiting_seconds();
  if (validation_data_ && step_ != 0 && step_ % configuration_.run.aux_iterations == 0) {
    const auto timing = profile_.time(Phase::val);
    validate_once();
  }
  {
    const auto timing = profile_.time(Phase::train);
    update();
  }
  ++step_;
  time_limit_.iteration_took(iteration.seconds());
  worked_seconds_ = iteration.seconds() - (processes_.waiting_seconds() - waited);
  if (step_ % configuration_.mode.checkpoint_iteration == 0) {
    save();
  }
  profile_.end_iteration();
  show_progress();
}

void TrainingRun::update() {
  if (!next_fetched_) {
    fetch_next();
  }
  if (next_error_ != nullptr) {  // not before its turn: the updates before it count
    std::rethrow_exception(std::exchange(next_error_, nullptr));
  }
  std::swap(current_, next_);
  next_fetched_ = false;
  exchange_times_.begin({processes_.exchange_seconds(), processes_.waiting_seconds()});
  const double rate = learning_rate(schedule_, step_);
  if (configuration_.mode.weights_average > 0) {
    model_->set_weights_average(average_decay(configuration_.mode.weights_average, step_));
  }
  {
    const auto timing = profile_.time(Phase::step);
    current_.submit_to(*model_, rate);
  }
  // Meanwhile: the batches of the next update, unless this is the last.
  if (hand_over_.ahead && step_ + 1 != last_step_) {
    fetch_next();
    if (next_error_ == nullptr) {
      next_.stage_for(*model_);
    }
  }
  {
    const auto timing = profile_.time(Phase::step);
    const session::StepResult& result = model_->wait();
    last_training_ = metrics_of(result);
    logits_ = result.logits;
    lost_replica_ = result.lost_replica;
    loss_scale_log_.add(step_, result);
  }
  exchange_times_.add_update({processes_.exchange_seconds(), processes_.waiting_seconds()});
  if (op_times_) {
    op_times_->add(profile_.latest_seconds(Phase::step), model_->timings());
  }
  if (!std::isfinite(value_of(last_training_, "loss"))) {
    stop_at_lost_loss();
  }
  loader_state_ = current_.state_after();
  images_ += configuration_.run.minibatch_size;
  record_update(rate);
}

void TrainingRun::fetch_next() {
  const auto timing = profile_.time(Phase::io);
  const Stopwatch waiting;
  next_fetched_ = true;
  try {
    next_.fetch(*training_data_, batches_per_update(), configuration_.run.replicas);
  } catch (...) {
    next_error_ = std::current_exception();
  }
  waiting_seconds_ += waiting.seconds();
}

[[noreturn]] void TrainingRun::stop_at_lost_loss() {
  const std::vector<BatchEvent> events = events_of_update();
  const std::filesystem::path path = folder_ / "before_lost_loss.safetensors";
  if (processes_.lead()) {
    checkpoint::Writing before = checkpoint_now();
    before.run.loader = current_.state_before();
    require_finite([&] { checkpoint::save_checkpoint(path, before); });
  }
  processes_.of_leader("it is saved");
  if (processes_.size() > 1 && configuration_.network.synchronized_statistics) {
    log_.error(
        "Batch statistics are those of all processes (network.synchronized_statistics=true), so "
        "one bad event makes the loss of all of them no number: it is not known whose it was.");
  } else if (processes_.size() > 1 && lost_replica_) {
    log_.error("The loss was lost on " +
               processes_.name(static_cast<int>(*lost_replica_ / configuration_.run.replicas)) +
               ".");
  }
  const NonFiniteLoss lost(step_, value_of(last_training_, "loss"), events, path);
  log_.error(lost.what());
  throw lost;
}

std::vector<BatchEvent> TrainingRun::events_of_update() const {
  const std::vector<data::SourcePart> files = training_data_->parts();
  const std::vector<std::int64_t> entries =
      processes_.gather(std::span<const std::int64_t>(current_.entries()));
  const std::vector<data::EventId> ids =
      processes_.gather(std::span<const data::EventId>(current_.ids()));
  std::vector<BatchEvent> events;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const data::SourcePart& one) {
      return entries[i] >= one.begin && entries[i] < one.end;
    });
    const bool found = file != files.end();
    events.push_back({found ? file->name : training_data_->description(),
                      entries[i] - (found ? file->begin : 0), ids[i]});
  }
  return events;
}

void TrainingRun::record_update(double rate) {
  const auto timing = profile_.time(Phase::log);
  if (!outputs_) {
    return;
  }
  const Stopwatch writing;
  outputs_->add_update(step_, last_training_,
                       {profile_.latest_seconds(Phase::io), profile_.latest_seconds(Phase::step)},
                       rate);
  if (outputs_->wants_images(step_)) {
    const auto summary = profile_.time(Phase::summary);
    outputs_->add_images(step_, {training_data_->shape(), events_per_replica(), logits_,
                                 current_.first_labels(training_data_->shape().event_pixels())});
  }
  writing_seconds_ += writing.seconds();
}

void TrainingRun::validate_once() {
  last_validation_ = metrics_of(validated(validation_data_->next()));
  if (outputs_) {
    outputs_->add_validation(step_, last_validation_);
  }
  if (const double loss = value_of(last_validation_, "loss"); !std::isfinite(loss)) {
    log_.warning("The validation loss is " + std::to_string(loss) + " at step " +
                 std::to_string(step_) +
                 ": the network cannot be judged by it, and no best checkpoint is kept.");
  }
  const bool is_best = best_.add(value_of(last_validation_, "loss"));
  if (is_best && configuration_.mode.keep_best && processes_.lead()) {
    checkpoint::CheckpointFolder best(folder_ / "best", 1);
    require_finite([&] { log_warnings(log_, best.save(checkpoint_now())); });
  }
}

const session::StepResult& TrainingRun::validated(const data::Batch& batch) {
  if (batch.form() == data::BatchForm::images) {
    return (*validation_)(batch.images, batch.labels);
  }
  const session::SparseBatch sparse = run::sparse_batch(batch);
  return (*validation_)(std::span(&sparse, 1));
}

std::optional<Ending> TrainingRun::reason_to_stop() {
  Word own;
  own.stop = hooks_.stop_requested && hooks_.stop_requested() ? 1 : 0;
  own.late = time_limit_.reached() ? 1 : 0;
  own.worked_seconds = worked_seconds_;
  const std::vector<Word> words = exchange_words(own);
  name_straggler(words);
  const auto asked =
      std::find_if(words.begin(), words.end(), [](const Word& word) { return word.stop != 0; });
  if (asked != words.end()) {
    log_.info("Asked to stop after step " + std::to_string(step_ - 1) +
              (processes_.size() == 1
                   ? "."
                   : " (" + processes_.name(static_cast<int>(asked - words.begin())) + ")."));
    return Ending::stopped;
  }
  if (words.front().late != 0) {
    log_.info("Stopping after step " + std::to_string(step_ - 1) +
              ": time limit reached (run.max_time).");
    return Ending::out_of_time;
  }
  const std::int64_t patience = configuration_.mode.early_stopping_patience;
  if (patience > 0 && best_.validations_since_best() >= patience) {
    log_.info("Stopping after step " + std::to_string(step_ - 1) +
              ": validation has not improved " + std::to_string(best_.validations_since_best()) +
              " times.");
    return Ending::no_improvement;
  }
  return std::nullopt;
}

void TrainingRun::show_progress() {
  if (!hooks_.progress) {
    return;
  }
  TrainingProgress progress;
  progress.step = step_;
  progress.first_step = first_step_;
  progress.last_step = last_step_;
  progress.loss = value_of(last_training_, "loss");
  progress.accuracy = value_of(last_training_, "Average/Non_Bkg_Accuracy");
  progress.mean_iou = value_of(last_training_, "Average/mIoU");
  progress.images_per_second = static_cast<double>(images_) / whole_run_.seconds();
  progress.waiting_share = waiting_share();
  progress.provenance = provenance();
  progress.modelled =
      machine::event_rate(model_->report().prediction, configuration_.run.minibatch_size);
  hooks_.progress(progress);
}

}  // namespace cosmic::train
