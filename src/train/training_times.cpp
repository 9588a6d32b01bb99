// Where the time of a run goes, of each of its processes.
#include "train/training_run.hpp"

#include <utility>

#include "output/number_text.hpp"
#include "output/report_lines.hpp"
#include "run/compile_log.hpp"
#include "train/process_times.hpp"
#include "train/time_shares.hpp"

namespace cosmic::train {

std::vector<Word> TrainingRun::exchange_words(Word own) {
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

void TrainingRun::name_straggler(const std::vector<Word>& words) {
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

double TrainingRun::waiting_share() const {
  const double whole = whole_run_.seconds();
  return whole > 0 ? waiting_seconds_ / whole : 0;
}

void TrainingRun::report_times() {
  exchange_words();  // the last update and what came after it
  log_.info("Saving run profile information.");
  const std::filesystem::path profiles = folder_ / "profiles";
  std::filesystem::create_directories(profiles);
  // An array has no room for a remark, so its name carries it.
  profile_.write_numpy(profiles /
                       ((provenance() == Provenance::measured ? "" : "host_of_modelled_run_") +
                        ("profiling_info_rank_" + std::to_string(processes_.rank()) + ".npy")));
  if (op_times_) {
    const std::filesystem::path own = run::profile_folder_of(profiles, processes_.rank());
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

void TrainingRun::write_rank_profile(const std::filesystem::path& folder) const {
  if (processes_.size() == 1 || !processes_.lead()) {
    return;
  }
  report::profile::RankProfile profile = comparison_.profile();
  const std::filesystem::path page =
      run::profile_paths("", session::Purpose::training, model_->report()).back();
  for (int rank = 0; rank < processes_.size(); ++rank) {
    report::profile::RankTimes& of_rank = profile.ranks.at(static_cast<std::size_t>(rank));
    of_rank.host = processes_.communicator()->host(rank);
    of_rank.page = (run::profile_folder_of("", rank) / page).string();
  }
  run::write_rank_profile(folder, profiled_program(), std::move(profile), log_);
}

run::ProfiledProgram TrainingRun::profiled_program() const {
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

run::ProfiledTimes TrainingRun::profiled_times() const {
  const double seconds = whole_run_.seconds();
  return {.phases = profile_,
          .ops = *op_times_,
          .shares = time_shares(profile_, *op_times_, model_->report(), seconds),
          .seconds = seconds};
}

}  // namespace cosmic::train
