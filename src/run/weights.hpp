// The weights that a run takes up: where they are, and whether its settings are those that they
// were trained with.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "config/weights_settings.hpp"

namespace cosmic::run {

/// Where the checkpoints of a run are.
std::filesystem::path checkpoints_of(const config::Configuration& configuration);

/// Throws UserError if mode.weights_location is given and there are no weights: also where the run
/// has some of its own, because who names weights means them.
void require_named_weights(const config::Configuration& configuration);

/// What the weights of this situation keep about their settings, read from the head of the file
/// alone; nothing if the command takes none, or there are none yet. Throws as
/// require_named_weights.
std::optional<config::WeightsRecord> weights_record(const config::Situation& situation);

/// Holds the settings against those that the weights keep. Throws UserError for those that
/// contradict, unless mode.insist_on_settings is true; returns those that were insisted on. `tell`
/// hears which settings are assumed for weights that do not say.
std::vector<config::Contradiction> check_settings(
    const checkpoint::LoadedCheckpoint& loaded, const config::Situation& situation,
    const std::function<void(const std::string&)>& tell);

}  // namespace cosmic::run
