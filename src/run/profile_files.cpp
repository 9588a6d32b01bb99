#include "run/profile_files.hpp"

#include "config/dump.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "report/prediction/prediction_json.hpp"
#include "report/prediction/prediction_page.hpp"
#include "report/profile/profile_json.hpp"
#include "report/profile/profile_page.hpp"
#include "session/machine.hpp"

namespace cosmic::run {
namespace {

std::string prefix_of(session::Purpose purpose) {
  return purpose == session::Purpose::training ? "" : "inference_";
}

std::filesystem::path timeline_path(const std::filesystem::path& folder, session::Purpose purpose) {
  return folder / (prefix_of(purpose) + "timeline.json");
}

/// Of the page, and with another ending of the JSON.
std::filesystem::path page_path(const std::filesystem::path& folder, session::Purpose purpose,
                                const session::CompileReport& compiled) {
  return folder / ((compiled.prediction ? "modelled_" : "") + prefix_of(purpose) + "profile.html");
}

std::filesystem::path json_path(std::filesystem::path page) {
  return page.replace_extension(".json");
}

/// `what` is the subject: "The profile".
void write_both(const std::filesystem::path& page_file, const std::string& json,
                const std::string& page, const std::string& what, Existing existing,
                output::RunLog& log) {
  write_whole_file(json_path(page_file), json, existing);
  write_whole_file(page_file, page, existing);
  log.info(what + " is in " + page_file.string());
}

report::profile::RunFacts facts_of(const ProfiledProgram& program) {
  const config::Configuration& configuration = program.configuration;
  return {.date = utc_now(),
          .purpose = program.purpose,
          .run_id = configuration.run.id,
          .network = configuration.network.name,
          .data = program.data,
          .batch = graph::to_string(program.image),
          .events_per_batch = configuration.run.minibatch_size,
          .batches_per_step = program.batches_per_step,
          .configuration = config::to_yaml(configuration)};
}

void write_measured(const std::filesystem::path& page, const ProfiledProgram& program,
                    const ProfiledTimes& times, Existing existing, output::RunLog& log) {
  report::profile::RunProfile profile;
  profile.facts = facts_of(program);
  profile.compiled = program.compiled;
  profile.memory = program.memory;
  profile.whole_seconds = times.seconds;
  profile.time = times.shares;
  profile.take(times.ops);
  profile.machine = session::find_machine(program.options, program.purpose);
  write_both(page, report::profile::to_json(profile), report::profile::to_page(profile),
             "The profile", existing, log);
}

/// Where the time would go on the machine that is modelled.
void write_modelled(const std::filesystem::path& page, const ProfiledProgram& program,
                    Existing existing, output::RunLog& log) {
  const config::Configuration& configuration = program.configuration;
  const session::Machine machine = session::find_machine(program.options, program.purpose);
  const bool training = program.purpose == session::Purpose::training;
  const report::prediction::PredictionReport report{
      .machine = *machine.description,
      .prediction = *program.compiled.prediction,
      .what_runs = configuration.network.name + (training ? ", training, " : ", inference, ") +
                   model::to_string(configuration.run.precision),
      .events = static_cast<double>(configuration.run.minibatch_size),
      .configuration = config::to_yaml(configuration),
      .date = utc_now()};
  write_both(page, report::prediction::to_json(report), report::prediction::to_page(report),
             "The modelled profile", existing, log);
}

}  // namespace

std::filesystem::path profile_folder_of(const std::filesystem::path& profiles, int rank) {
  return rank == 0 ? profiles : profiles / ("rank_" + std::to_string(rank));
}

std::vector<std::filesystem::path> profile_paths(const std::filesystem::path& folder,
                                                 session::Purpose purpose,
                                                 const session::CompileReport& compiled) {
  const std::filesystem::path page = page_path(folder, purpose, compiled);
  return {timeline_path(folder, purpose), json_path(page), page};
}

void write_rank_profile(const std::filesystem::path& folder, const ProfiledProgram& program,
                        report::profile::RankProfile profile, output::RunLog& log) {
  profile.facts = facts_of(program);
  profile.provenance = program.compiled.provenance;
  profile.threads = program.options.threads;
  const std::string mark =
      profile.provenance == Provenance::measured ? "" : "host_of_modelled_run_";
  write_both(folder / (mark + "ranks.html"), report::profile::to_json(profile),
             report::profile::to_page(profile), "The comparison of all ranks", Existing::replace,
             log);
}

void write_profile(const std::filesystem::path& folder, const ProfiledProgram& program,
                   const ProfiledTimes& times, Existing existing, output::RunLog& log) {
  std::filesystem::create_directories(folder);
  const Provenance provenance = program.compiled.provenance;
  times.phases.write_timeline(timeline_path(folder, program.purpose), provenance, 0, existing);
  log.info(marked("Where the time went", provenance) + ":\n" + times.phases.table());
  const std::filesystem::path page = page_path(folder, program.purpose, program.compiled);
  if (program.compiled.prediction) {
    write_modelled(page, program, existing, log);
  } else {
    write_measured(page, program, times, existing, log);
  }
}

}  // namespace cosmic::run
