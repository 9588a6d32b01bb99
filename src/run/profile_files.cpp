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

/// `what` is the subject: "The profile".
void write_both(const std::filesystem::path& folder, const std::string& name,
                const std::string& json, const std::string& page, const std::string& what,
                output::RunLog& log) {
  const std::filesystem::path page_file = folder / (name + ".html");
  write_whole_file(folder / (name + ".json"), json, Existing::replace);
  write_whole_file(page_file, page, Existing::replace);
  log.info(what + " is in " + page_file.string());
}

void write_measured(const std::filesystem::path& folder, const ProfiledProgram& program,
                    const ProfiledTimes& times, output::RunLog& log) {
  const config::Configuration& configuration = program.configuration;
  report::profile::RunProfile profile;
  profile.facts = {.date = utc_now(),
                   .purpose = program.purpose,
                   .run_id = configuration.run.id,
                   .network = configuration.network.name,
                   .data = program.data,
                   .batch = graph::to_string(program.image),
                   .events_per_batch = configuration.run.minibatch_size,
                   .batches_per_step = program.batches_per_step,
                   .configuration = config::to_yaml(configuration)};
  profile.compiled = program.compiled;
  profile.memory = program.memory;
  profile.whole_seconds = times.seconds;
  profile.time = times.shares;
  profile.take(times.ops);
  profile.machine = session::find_machine(program.options, program.purpose);
  write_both(folder, prefix_of(program.purpose) + "profile", report::profile::to_json(profile),
             report::profile::to_page(profile), "The profile", log);
}

/// Where the time would go on the machine that is modelled.
void write_modelled(const std::filesystem::path& folder, const ProfiledProgram& program,
                    output::RunLog& log) {
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
  write_both(folder, "modelled_" + prefix_of(program.purpose) + "profile",
             report::prediction::to_json(report), report::prediction::to_page(report),
             "The modelled profile", log);
}

}  // namespace

void write_profile(const std::filesystem::path& folder, const ProfiledProgram& program,
                   const ProfiledTimes& times, output::RunLog& log) {
  std::filesystem::create_directories(folder);
  const Provenance provenance = program.compiled.provenance;
  times.phases.write_timeline(folder / (prefix_of(program.purpose) + "timeline.json"), provenance);
  log.info(marked("Where the time went", provenance) + ":\n" + times.phases.table());
  if (program.compiled.prediction) {
    write_modelled(folder, program, log);
  } else {
    write_measured(folder, program, times, log);
  }
}

}  // namespace cosmic::run
