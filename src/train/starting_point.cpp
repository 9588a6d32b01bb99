#include "train/starting_point.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "config/difference.hpp"
#include "config/parse.hpp"
#include "config/seeds.hpp"
#include "config/weights_settings.hpp"
#include "run/weights.hpp"

namespace cosmic::train {
namespace {

std::int64_t fresh_seed() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count(), 1);
}

void require_same_run(config::Configuration& configuration,
                      const checkpoint::LoadedCheckpoint& loaded, output::RunLog& log) {
  if (loaded.checkpoint.run.configuration.empty()) {
    config::settle_seeds(configuration, fresh_seed());
    return;
  }
  const config::Configuration before = config::from_yaml(
      loaded.checkpoint.run.configuration, "configuration in " + loaded.file.string());
  config::keep_seeds(configuration, before);
  const std::vector<config::Difference> changed = config::require_resumable(before, configuration);
  if (!changed.empty()) {
    log.warning("The run resumes with changed settings:\n" + config::to_text(changed));
  }
}

void take_weights_of_another(config::Configuration& configuration,
                             const checkpoint::LoadedCheckpoint& loaded, output::RunLog& log) {
  const std::vector<config::Contradiction> insisted =
      run::check_settings(loaded, {configuration, config::Command::train},
                          [&](const std::string& what) { log.warning(what); });
  if (!insisted.empty()) {
    log.warning(config::insistence_on(insisted, loaded.file.string()));
  }
  config::settle_seeds(configuration, fresh_seed());
}

}  // namespace

std::int64_t StartingPoint::began_at(std::int64_t step) const {
  if (!own) {
    return step;
  }
  const auto note = checkpoint->run.notes.find(kBeganNote);
  return note == checkpoint->run.notes.end() ? 0 : std::stoll(note->second);
}

// The run's own checkpoints come first: the same command, given again, goes on.
StartingPoint find_starting_point(config::Configuration& configuration,
                                  const std::filesystem::path& checkpoints, output::RunLog& log) {
  run::require_named_weights(configuration);
  std::vector<checkpoint::Warning> warnings;
  const bool own = !checkpoint::find_checkpoints(checkpoints, warnings).empty();
  const std::string& named = configuration.mode.weights_location;
  if (!own && named.empty()) {
    log.info("No checkpoint file found, restarting from scratch");
    config::settle_seeds(configuration, fresh_seed());
    return {};
  }
  checkpoint::LoadedCheckpoint loaded =
      checkpoint::load_newest(own ? checkpoints : std::filesystem::path(named));
  log_warnings(log, loaded.warnings);
  log.info("Restoring weights from " + loaded.file.string());
  if (loaded.passed_over > 0) {
    log.warning(loaded.file.string() + ": of step " + std::to_string(loaded.checkpoint.step) +
                ", the newest checkpoint that is complete and finite, is used instead");
  }
  StartingPoint start;
  start.own = own;
  if (own) {
    require_same_run(configuration, loaded, log);
    start.steps_abandoned = loaded.latest_step > loaded.checkpoint.step;
    if (!named.empty()) {
      log.info("The run has checkpoints of its own, so it does not start from " + named +
               " again.");
    }
  } else {
    take_weights_of_another(configuration, loaded, log);
  }
  start.checkpoint = std::move(loaded.checkpoint);
  return start;
}

void log_warnings(output::RunLog& log, const std::vector<checkpoint::Warning>& warnings) {
  for (const checkpoint::Warning& warning : warnings) {
    log.warning(warning.file.string() + ": " + warning.reason);
  }
}

}  // namespace cosmic::train
