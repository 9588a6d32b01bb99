#include "cli/published_job.hpp"

#include <fmt/core.h>

#include "cli/standard_streams.hpp"
#include "core/error.hpp"
#include "model/enum_text.hpp"
#include "run/output_folder.hpp"
#include "run/run_choices.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

monitor::JobDescription description_of(const std::string& command,
                                       const config::Configuration& configuration,
                                       const std::string& target) {
  monitor::JobDescription job =
      job_on(target, configuration.run.machine, run::device_of(configuration.run));
  job.command = command;
  job.run = configuration.run.id == config::kMissing ? "" : configuration.run.id;
  job.compute_mode = model::to_string(configuration.run.compute_mode);
  return job;
}

void say_on_the_error_stream(const std::string& text) {
  tell("warning: {}\n", text);
}

}  // namespace

monitor::JobDescription job_on(const std::string& target, const std::string& machine, int device) {
  const std::optional<machine::Description> described = target::described_machine(target, machine);
  monitor::JobDescription job;
  job.target = target;
  job.machine = described ? described->name : monitor::this_process_table().host;
  job.provenance = to_string(described ? Provenance::modelled : Provenance::measured);
  if (const auto identity = target::device_of_target(target, device)) {
    job.device = identity->name;
    job.bus_id = identity->bus_id;
  }
  return job;
}

std::optional<monitor::ModelledRate> modelled_rate(const std::optional<machine::EventRate>& rate) {
  return rate ? std::optional(monitor::ModelledRate{rate->best, rate->low, rate->high})
              : std::nullopt;
}

PublishedJob::PublishedJob(const std::string& command, const config::Configuration& configuration,
                           const std::string& target, output::RunLog& log) {
  monitor::JobDescription job = description_of(command, configuration, target);
  job.folder = std::filesystem::absolute(run::output_folder(configuration)).string();
  start(job, [&](const std::string& text) { log.warning(text); });
}

PublishedJob::PublishedJob(const std::string& command, const config::Configuration& configuration,
                           const std::string& target) {
  start(description_of(command, configuration, target), say_on_the_error_stream);
}

PublishedJob::PublishedJob(const monitor::JobDescription& description) {
  start(description, say_on_the_error_stream);
}

void PublishedJob::start(const monitor::JobDescription& description,
                         const std::function<void(const std::string&)>& warn) {
  try {
    publisher_.emplace(description);
  } catch (const Error& error) {
    warn(std::string("`cosmictagger monitor` will not show this run: ") + error.what());
  }
}

void PublishedJob::show(const train::TrainingProgress& progress) {
  publish({.state = monitor::JobState::running,
           .unit = monitor::JobUnit::steps,
           .done = progress.step,
           .total = progress.last_step,
           .host_events_per_second = progress.images_per_second,
           .modelled = modelled_rate(progress.modelled),
           .loss = progress.loss});
}

void PublishedJob::show(const infer::InferenceProgress& progress) {
  publish({.state = monitor::JobState::running,
           .unit = monitor::JobUnit::events,
           .done = progress.events,
           .total = progress.all_events,
           .host_events_per_second = progress.events_per_second,
           .modelled = modelled_rate(progress.modelled)});
}

}  // namespace cosmic::cli
