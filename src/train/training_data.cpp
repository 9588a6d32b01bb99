// The events of a run, and whether they are those that an earlier start had.
#include "train/training_run.hpp"

#include "config/value.hpp"
#include "core/error.hpp"
#include "run/same_everywhere.hpp"

namespace cosmic::train {

void TrainingRun::open_data() {
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
  training_data_ = run::open_run_data(configuration_, run::Stream::training, known(training_state),
                                      warn_of("training"), hand_over_, processes_.partition());
  run::require_same_events(processes_, training_data_->parts(), "training");
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
  }
  run::require_same_events(
      processes_, validation_data_ ? validation_data_->parts() : std::vector<data::SourcePart>(),
      "validation");
  if (validation_data_) {
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

void TrainingRun::compare_validation_events() {
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

run::Warn TrainingRun::warn_of(const std::string& stream) {
  return [this, stream](const std::string& text) {
    log_.warning(text + " (" + stream + "; counted each time an event is read).");
  };
}

std::string TrainingRun::idle_without_validation() const {
  std::string keys = configuration_.mode.keep_best ? "mode.keep_best" : "";
  if (configuration_.mode.early_stopping_patience > 0) {
    keys += (keys.empty() ? "" : " and ") + std::string("mode.early_stopping_patience");
  }
  return keys.empty() ? "" : " " + keys + " can do nothing without one.";
}

}  // namespace cosmic::train
