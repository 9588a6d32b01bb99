#include "run/weights.hpp"

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "run/output_folder.hpp"

namespace cosmic::run {
namespace {

bool has_checkpoints(const std::filesystem::path& location) {
  std::vector<checkpoint::Warning> ignored;  // whoever loads them tells
  return !checkpoint::find_checkpoints(location, ignored).empty();
}

/// Of the newest whose head can be read; whoever loads it says what is wrong with others.
std::optional<config::WeightsRecord> record_at(const std::filesystem::path& location,
                                               config::WeightsUse use) {
  std::vector<checkpoint::Warning> ignored;
  for (const std::filesystem::path& file : checkpoint::find_checkpoints(location, ignored)) {
    try {
      return config::WeightsRecord{file.string(), checkpoint::configuration_in(file), use};
    } catch (const DataError&) {
      continue;
    }
  }
  return std::nullopt;
}

}  // namespace

std::filesystem::path checkpoints_of(const config::Configuration& configuration) {
  return output_folder(configuration) / "checkpoints";
}

void require_named_weights(const config::Configuration& configuration) {
  const std::string& location = configuration.mode.weights_location;
  COSMIC_REQUIRE(UserError, location.empty() || has_checkpoints(location),
                 "mode.weights_location="
                     << location
                     << " names no weights (there is neither a file nor a folder with checkpoints, "
                        "and other weights would give other answers); correct the path, or leave "
                        "it out to use the newest checkpoint of the run");
}

std::optional<config::WeightsRecord> weights_record(const config::Situation& situation) {
  using config::Command;
  const config::Configuration& configuration = situation.configuration;
  const std::filesystem::path own = checkpoints_of(configuration);
  const std::string& named = configuration.mode.weights_location;
  switch (situation.command) {
    case Command::train:
      require_named_weights(configuration);
      if (has_checkpoints(own)) {
        return record_at(own, config::WeightsUse::continued);
      }
      break;
    case Command::infer:
    case Command::evaluate:
      require_named_weights(configuration);
      if (named.empty()) {
        return record_at(own, config::WeightsUse::applied);
      }
      break;
    case Command::compile:
    case Command::test:
      require_named_weights(configuration);
      break;
    case Command::iotest:
    case Command::measure_performance:
    case Command::explain:
    case Command::export_network:  // has an option for its weights
      return std::nullopt;
  }
  return named.empty() ? std::nullopt : record_at(named, config::WeightsUse::applied);
}

std::vector<config::Contradiction> check_settings(
    const checkpoint::LoadedCheckpoint& loaded, const config::Situation& situation,
    const std::function<void(const std::string&)>& tell) {
  const config::WeightsRecord record{loaded.file.string(), loaded.checkpoint.run.configuration};
  const bool insist = situation.configuration.mode.insist_on_settings;
  std::map<const config::Key*, config::Value> settings;
  try {
    settings = config::settings_of(record);
  } catch (const UserError&) {
    if (!insist) {
      throw;
    }
    tell(record.file +
         ": the settings that it keeps cannot be read, so these are used without comparing them "
         "(mode.insist_on_settings=true): " +
         config::assumed_settings(situation));
    return {};
  }
  if (settings.empty()) {
    tell(record.file + ": " + to_string(loaded.checkpoint.origin) +
         "; the file does not say which settings its weights were trained with, so these are "
         "assumed: " +
         config::assumed_settings(situation));
    return {};
  }
  std::vector<config::Contradiction> found = config::contradictions(settings, situation);
  COSMIC_REQUIRE(UserError, found.empty() || insist, config::refusal_of(found, record.file));
  return found;
}

}  // namespace cosmic::run
