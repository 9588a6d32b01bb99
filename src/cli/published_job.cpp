#include "cli/published_job.hpp"

#include "core/error.hpp"
#include "model/enum_text.hpp"
#include "run/output_folder.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {

PublishedJob::PublishedJob(const std::string& command, const config::Configuration& configuration,
                           const std::string& target, output::RunLog& log) {
  try {
    publisher_.emplace(monitor::JobDescription{
        .command = command,
        .run = configuration.run.id,
        .target = target,
        .compute_mode = model::to_string(configuration.run.compute_mode),
        .provenance = to_string(target::make_target(target)->provenance()),
        .folder = std::filesystem::absolute(run::output_folder(configuration)).string(),
    });
  } catch (const Error& error) {
    log.warning(std::string("`cosmictagger monitor` will not show this run: ") + error.what());
  }
}

void PublishedJob::show(const train::TrainingProgress& progress) {
  publish({.state = monitor::JobState::running,
           .unit = monitor::JobUnit::steps,
           .done = progress.step,
           .total = progress.last_step,
           .events_per_second = progress.images_per_second,
           .loss = progress.loss});
}

void PublishedJob::show(const infer::InferenceProgress& progress) {
  publish({.state = monitor::JobState::running,
           .unit = monitor::JobUnit::events,
           .done = progress.events,
           .total = progress.all_events,
           .events_per_second = progress.events_per_second});
}

}  // namespace cosmic::cli
