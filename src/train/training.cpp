#include "train/training.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/instance_checkpoints.hpp"
#include "config/dump.hpp"
#include "config/parse.hpp"
#include "config/value.hpp"
#include "core/error.hpp"
#include "core/make_folder.hpp"
#include "core/pending_file.hpp"
#include "core/process_memory.hpp"
#include "core/stopwatch.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "output/number_text.hpp"
#include "output/report_lines.hpp"
#include "output/step_profile.hpp"
#include "run/compile_log.hpp"
#include "run/output_folder.hpp"
#include "run/processes.hpp"
#include "run/profile_files.hpp"
#include "run/run_choices.hpp"
#include "run/run_data.hpp"
#include "run/run_lock.hpp"
#include "session/model.hpp"
#include "train/exchange_times.hpp"
#include "train/loss_scale_log.hpp"
#include "train/process_times.hpp"
#include "train/rank_comparison.hpp"
#include "train/run_length.hpp"
#include "train/run_outputs.hpp"
#include "train/starting_point.hpp"
#include "train/stop_rules.hpp"
#include "train/straggler.hpp"
#include "train/time_shares.hpp"
#include "train/update_batches.hpp"

namespace cosmic::train {
namespace {

using output::Phase;

constexpr const char* kBestNote = "best_validation";
constexpr const char* kValidationLoaderNote = "validation_loader";
constexpr const char* kValidationDataNote = "validation_data";
constexpr const char* kSharesNote = "shares";

/// What the processes of a run tell each other after each update.
struct Word {
  std::int32_t stop = 0;  ///< was it asked to?
  std::int32_t late = 0;  ///< is its time over?
  double worked_seconds = 0;
  RankComparison::Stretch stretch;  ///< since the word before
};

output::Metrics metrics_of(const session::StepResult& result) {
  static const std::vector<std::string> names = model::score_names();
  output::Metrics metrics{{"loss", result.loss}};
  for (std::size_t i = 0; i < result.scores.size(); ++i) {
    metrics.push_back({names[i], static_cast<double>(result.scores[i])});
  }
  if (result.loss_scale) {
    metrics.push_back({"loss_scale", *result.loss_scale});
  }
  return metrics;
}

double value_of(const output::Metrics& metrics, std::string_view key) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const output::Metric& m) { return m.key == key; });
  return found == metrics.end() ? std::nan("") : found->value;
}

/// Whether a run is made, or only looked at.
enum class Files { written, untouched };

class Run {
 public:
  Run(config::Configuration configuration, const std::string& target, output::RunLog& log,
      const TrainingHooks& hooks, comm::Communicator* communicator, Files files = Files::written)
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

  DryRun looked_at() const {
    DryRun result{.first_step = first_step_, .last_step = last_step_};
    result.memory_bytes = model_->report().memory_bytes + state_bytes();
    if (validation_) {
      result.memory_bytes += validation_->report().memory_bytes;
    }
    if (!model_->report().device_memory) {
      // What this process has taken for the programs is part of what they need.
      result.available_bytes = available_bytes() + resident_bytes();
    }
    return result;
  }

  TrainingSummary run() {
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

 private:
  std::filesystem::path checkpoint_folder() const { return folder_ / "checkpoints"; }

  /// Settings are the leader's, who knows what an earlier start had and which seeds were drawn.
  void follow_leader() {
    if (processes_.size() == 1) {
      return;
    }
    const std::string settings = processes_.of_leader(config::to_yaml(configuration_));
    if (!processes_.lead()) {
      configuration_ = config::from_yaml(settings, "configuration of rank 0");
    }
  }

  /// How a batch is divided; two runs with different shares round differently.
  std::string shares() const {
    return std::to_string(processes_.size()) + " x " + std::to_string(configuration_.run.replicas);
  }

  /// Settings of what processes do together, where there is nobody to do it with.
  void note_idle_exchange() {
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

  void describe_processes() {
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

  void lock_folder() {
    lock_.emplace(folder_);
    if (!lock_->remark().empty()) {
      log_.warning(lock_->remark());
    }
  }

  void lock_new_folder() {
    make_folder(folder_, "output_dir");
    lock_folder();
    std::vector<checkpoint::Warning> warnings;
    COSMIC_REQUIRE(UserError, checkpoint::find_checkpoints(checkpoint_folder(), warnings).empty(),
                   folder_.string()
                       << ": another training was made there while this one began (this one would "
                          "overwrite its checkpoints); run the command again to resume it, or give "
                          "another run.id or output_dir");
  }

  void save_configuration() {
    const std::string yaml = config::to_yaml(configuration_);
    PendingFile file(folder_ / "config.yaml", Existing::replace);
    file.append(std::as_bytes(std::span(yaml)));
    file.commit();
  }

  /// Whose target says how it would like the data; what it runs depends on the data's size.
  void choose_target(const std::string& target) {
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

  /// Among processes and their replicas.
  void divide(session::Options& options) const {
    options.replication_factor = configuration_.run.replicas;
    options.communicator = run::exchanging(configuration_.run, processes_.communicator());
    options.device = processes_.device(configuration_.run.device, options.target,
                                       configuration_.run.exchange == config::Exchange::host
                                           ? run::Sharing::allowed
                                           : run::Sharing::refused);
    options.threads = processes_.threads(configuration_.run.threads);
  }

  /// Pixels are handed over for one replica; several divide images.
  run::HandOver hand_over(run::Calls calls, std::int64_t batches = 1) const {
    return configuration_.run.replicas > 1 ? run::HandOver{}
                                           : run::hand_over(*model_, calls, batches);
  }

  std::int64_t events_per_replica() const {
    return run::events_per_replica(configuration_.run.minibatch_size, processes_.size(),
                                   configuration_.run.replicas);
  }

  std::int64_t batches_per_update() const {
    return configuration_.mode.optimizer.gradient_accumulation;
  }

  void open_data() {
    std::string training_state;  // empty for a run that begins
    std::string validation_state;
    if (start_.own && !start_.checkpoint->run.loader.empty()) {
      training_state = start_.checkpoint->run.loader;
      const auto note = start_.checkpoint->run.notes.find(kValidationLoaderNote);
      if (note != start_.checkpoint->run.notes.end()) {
        validation_state = note->second;
      }
    }
    training_state = processes_.of_leader(training_state);
    validation_state = processes_.of_leader(validation_state);
    const auto known = [](const std::string& state) {
      return state.empty() ? std::nullopt : std::optional(state);
    };
    events_per_replica();  // refuses a batch that cannot be divided
    training_data_ =
        run::open_run_data(configuration_, run::Stream::training, known(training_state),
                           warn_of("training"), hand_over_, processes_.partition());
    log_.info(processes_.threads_text(configuration_.run.threads));
    log_.info((configuration_.data.detector ? "Events come from " : "Larcv file prepared: ") +
              training_data_->description() + run::list_of(training_data_->parts()));
    if (start_.own && !start_.checkpoint->run.data_fingerprint.empty()) {
      const run::SameEvents same =
          run::same_events(start_.checkpoint->run.data_fingerprint, training_data_->fingerprint());
      if (same == run::SameEvents::unknown) {
        log_.warning(
            "The checkpoint was written by an earlier version, whose fingerprint of the events "
            "cannot be compared: make sure that data.file is what the run was trained on.");
      }
      COSMIC_REQUIRE(UserError, same != run::SameEvents::no,
                     "the events of "
                         << training_data_->description() << " are not those that the run in "
                         << folder_.string() << " was trained on (their fingerprint is "
                         << training_data_->fingerprint() << ", it was "
                         << start_.checkpoint->run.data_fingerprint
                         << ", so it would not be the same run); give another run.id and "
                            "mode.weights_location="
                         << checkpoint_folder().string() << " to start from its weights");
    }
    if (run::has_validation_data(configuration_)) {
      validation_data_ = run::open_run_data(
          configuration_, run::Stream::validation, known(validation_state), warn_of("validation"),
          hand_over(run::Calls::one_by_one), processes_.partition());
      compare_validation_events();
    } else if (!configuration_.data.synthetic && processes_.lead()) {
      std::vector<std::string> names;
      for (const std::filesystem::path& name : configuration_.data.aux_file_paths()) {
        names.push_back(name.string());
      }
      log_.warning("There is no file '" + config::to_text(names) +
                   "' (data.aux_file), so this run has no validation." + idle_without_validation());
    }
  }

  /// Other events to validate on do not change the training, but what its validations mean.
  void compare_validation_events() {
    if (!start_.own) {
      return;
    }
    const auto note = start_.checkpoint->run.notes.find(kValidationDataNote);
    if (note != start_.checkpoint->run.notes.end() &&
        run::same_events(note->second, validation_data_->fingerprint()) == run::SameEvents::no) {
      log_.warning("The events of " + validation_data_->description() +
                   " are not those that the run was validated on before (their fingerprint is " +
                   validation_data_->fingerprint() + ", it was " + note->second +
                   "): losses of validations before and after cannot be compared.");
    }
  }

  /// What is odd in events goes to the log, when it is first read and with its number at the end.
  run::Warn warn_of(const std::string& stream) {
    return [this, stream](const std::string& text) {
      log_.warning(text + " (" + stream + "; counted each time an event is read).");
    };
  }

  /// Settings that were meant to do something with validations.
  std::string idle_without_validation() const {
    std::string keys = configuration_.mode.keep_best ? "mode.keep_best" : "";
    if (configuration_.mode.early_stopping_patience > 0) {
      keys += (keys.empty() ? "" : " and ") + std::string("mode.early_stopping_patience");
    }
    return keys.empty() ? "" : " " + keys + " can do nothing without one.";
  }

  void compile(const std::string& target) {
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

  std::int64_t parameter_count() const {
    std::int64_t count = 0;
    for (const std::string& name : model_->state()->names()) {
      if (model_->state()->kind(name) == graph::StateKind::parameter) {
        count += model_->state()->type(name).elements();
      }
    }
    return count;
  }

  void take_up() {
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

  /// Whoever starts a run that is complete may have meant something else.
  void note_nothing_left() {
    if (last_step_ > 0 && step_ >= last_step_) {
      log_.info("The run has made all of its " + std::to_string(last_step_ - began_at_) +
                " updates; nothing is left to do. For more, give a larger run.iterations, or "
                "run.restart=again for as many again.");
    }
  }

  std::int64_t state_bytes() const {
    std::int64_t bytes = 0;
    for (const std::string& name : model_->state()->names()) {
      bytes += model_->state()->type(name).bytes();
    }
    return bytes;
  }

  void require_same_columns() const {
    const std::vector<float> scores(model::score_names().size());
    session::StepResult any;
    any.scores = scores;
    if (session_options_.precision.loss_scaling.is_on()) {
      any.loss_scale = 0;
    }
    RunOutputs::require_same_columns(folder_, first_step_, metrics_of(any), provenance());
  }

  void open_files() {
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

  void open_instance_files() {
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

  int kept_checkpoints() const {
    return static_cast<int>(std::min<std::int64_t>(configuration_.mode.keep_checkpoints, INT_MAX));
  }

  // A run that was killed makes the steps after its newest checkpoint again, so their metrics are
  // written again. Steps before another checkpoint are a result of their own.
  void set_metrics_aside() {
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

  void iterate() {
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

  void update() {
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

  void fetch_next() {
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

  // The model has not made the update, so its state is the one before it.
  [[noreturn]] void stop_at_lost_loss() {
    const std::vector<BatchEvent> events = events_of_update();
    const std::filesystem::path path = folder_ / "before_lost_loss.safetensors";
    if (processes_.lead()) {
      checkpoint::Checkpoint before = capture();
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

  /// Of all processes.
  std::vector<BatchEvent> events_of_update() const {
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

  void record_update(double rate) {
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

  void validate_once() {
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
      require_finite([&] { log_warnings(log_, best.save(capture())); });
    }
  }

  const session::StepResult& validated(const data::Batch& batch) {
    if (batch.form() == data::BatchForm::images) {
      return (*validation_)(batch.images, batch.labels);
    }
    const session::SparseBatch sparse = run::sparse_batch(batch);
    return (*validation_)(std::span(&sparse, 1));
  }

  /// With the fingerprints of the events, which takes reading all of them.
  checkpoint::RunRecord run_record(const std::string& events, const std::string& validation) const {
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

  checkpoint::Checkpoint capture() const {
    return checkpoint::capture(*model_->state(), step_,
                               run_record(training_data_->fingerprint(),
                                          validation_data_ ? validation_data_->fingerprint() : ""));
  }

  void save() {
    const auto timing = profile_.time(Phase::checkpoint);
    const Stopwatch watch;
    const double waited = processes_.waiting_seconds();
    checkpoint::Checkpoint state;
    if (checkpoints_) {
      state = capture();
      require_finite([&] { log_warnings(log_, checkpoints_->save(state)); });
    }
    saved_step_ = step_;
    if (instance_checkpoints_) {
      save_instance(std::move(state));
    }
    writing_seconds_ += watch.seconds() - (processes_.waiting_seconds() - waited);
    time_limit_.checkpoint_took(watch.seconds());
  }

  /// After the run's own, so that none is of a step that the run has no checkpoint of. What only
  /// the leader knows comes from there: every file holds the same.
  void save_instance(checkpoint::Checkpoint state) {
    const std::string events = processes_.of_leader(state.run.data_fingerprint);
    const auto note = state.run.notes.find(kValidationDataNote);
    const std::string validation =
        processes_.of_leader(note == state.run.notes.end() ? "" : note->second);
    if (!processes_.lead()) {
      state = checkpoint::capture(*model_->state(), step_, run_record(events, validation));
    }
    log_warnings(log_, instance_checkpoints_->save(state));
  }

  /// A state that no checkpoint takes is the end of the run; those before it stay.
  template <class Save>
  void require_finite(const Save& save) {
    try {
      save();
    } catch (const checkpoint::NonFiniteCheckpoint& error) {
      const NonFiniteState lost(step_, value_of(last_training_, "loss"), error.found,
                                saved_step_ > 0 ? checkpoints_->file_of(saved_step_) : "");
      log_.error(lost.what());
      throw lost;
    }
  }

  /// Tells all how this process has spent its time since the word before.
  std::vector<Word> exchange_words(Word own = {}) {
    own.stretch = clock_.next(whole_run_.seconds(), {.waiting = processes_.waiting_seconds(),
                                                     .data = waiting_seconds_,
                                                     .writing = writing_seconds_});
    const std::vector<Word> words = processes_.gather(own);
    if (processes_.size() > 1 && processes_.lead()) {
      std::vector<RankComparison::Stretch> stretches;
      for (const Word& word : words) {
        stretches.push_back(word.stretch);
      }
      comparison_.add(step_, stretches);
    }
    return words;
  }

  /// The same for all processes: whoever is asked to stop stops all, time is the leader's.
  std::optional<Ending> reason_to_stop() {
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

  void name_straggler(const std::vector<Word>& words) {
    if (words.size() == 1) {
      return;
    }
    std::vector<double> seconds;
    for (const Word& word : words) {
      seconds.push_back(word.worked_seconds);
    }
    if (const auto found = stragglers_.add(seconds)) {
      log_.warning("The others wait for " + processes_.name(found->rank) + ", which works " +
                   output::fixed_point(found->factor, 1) + " times as long as the median of all.");
    }
  }

  Provenance provenance() const { return model_->report().provenance; }

  double waiting_share() const {
    const double whole = whole_run_.seconds();
    return whole > 0 ? waiting_seconds_ / whole : 0;
  }

  void show_progress() {
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

  void report_times() {
    exchange_words();  // the last update and what came after it
    log_.info("Saving run profile information.");
    const std::filesystem::path profiles = folder_ / "profiles";
    std::filesystem::create_directories(profiles);
    // An array has no room for a remark, so its name carries it.
    profile_.write_numpy(profiles /
                         ((provenance() == Provenance::measured ? "" : "host_of_modelled_run_") +
                          ("profiling_info_rank_" + std::to_string(processes_.rank()) + ".npy")));
    if (op_times_) {
      const std::filesystem::path own =
          processes_.lead() ? profiles : profiles / ("rank_" + std::to_string(processes_.rank()));
      std::filesystem::create_directories(own);
      run::write_profile(own, profiled_program(), profiled_times(), Existing::replace, log_);
      write_rank_profile(profiles);
    }
    log_process_times(log_, processes_,
                      {whole_run_.seconds(), waiting_seconds_, exchange_times_.median()});
    for (const std::string& line : output::throughput_lines(
             profile_.iteration_times(), configuration_.run.minibatch_size, provenance())) {
      log_.info(line);
    }
    run::log_prediction(log_, "the training step", model_->report(),
                        configuration_.run.minibatch_size);
  }

  void write_rank_profile(const std::filesystem::path& folder) const {
    if (processes_.size() == 1 || !processes_.lead()) {
      return;
    }
    report::profile::RankProfile profile = comparison_.profile();
    const std::filesystem::path page =
        run::profile_paths("", session::Purpose::training, model_->report()).back();
    for (int rank = 0; rank < processes_.size(); ++rank) {
      report::profile::RankTimes& of_rank = profile.ranks.at(static_cast<std::size_t>(rank));
      of_rank.host = processes_.communicator()->host(rank);
      of_rank.page =
          rank == 0 ? page.string() : "rank_" + std::to_string(rank) + "/" + page.string();
    }
    run::write_rank_profile(folder, profiled_program(), std::move(profile), log_);
  }

  run::ProfiledProgram profiled_program() const {
    return {.configuration = configuration_,
            .options = session_options_,
            .purpose = session::Purpose::training,
            .compiled = model_->report(),
            .memory = model_->memory(),
            .data = training_data_->description(),
            .image = run::batch_types(events_per_replica(), training_data_->shape()).image,
            .batches_per_step =
                configuration_.mode.optimizer.gradient_accumulation * configuration_.run.replicas};
  }

  run::ProfiledTimes profiled_times() const {
    const double seconds = whole_run_.seconds();
    return {.phases = profile_,
            .ops = *op_times_,
            .shares = time_shares(profile_, *op_times_, model_->report(), seconds),
            .seconds = seconds};
  }

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
  Stopwatch whole_run_;
};

}  // namespace

TrainingSummary train(const config::Configuration& configuration, const std::string& target,
                      output::RunLog& log, const TrainingHooks& hooks,
                      comm::Communicator* communicator) {
  return Run(configuration, target, log, hooks, communicator).run();
}

DryRun dry_run(const config::Configuration& configuration, const std::string& target,
               output::RunLog& log, const TrainingHooks& hooks) {
  return Run(configuration, target, log, hooks, nullptr, Files::untouched).looked_at();
}

}  // namespace cosmic::train
