// What every export begins with: weights, and the settings that they and the command line give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "config/configuration.hpp"
#include "data/dense_image.hpp"

namespace cosmic::run {

/// Who hears of what is no error: before an error, too.
struct ExportHooks {
  std::function<void(const checkpoint::Warning&)> warning;  ///< about the weights
  std::function<void(const std::string&)> note;             ///< about the settings
};

struct ExportSource {
  /// `network=a21 network.depth=3`: which network. May be left out for a checkpoint that remembers
  /// its configuration, and may not contradict it.
  std::vector<std::string> settings = {};
  /// A checkpoint, a folder of them, or plain weights. Empty for a network that nobody has trained.
  std::filesystem::path weights = {};
};

struct ExportedWeights {
  config::Configuration configuration;
  std::optional<checkpoint::LoadedCheckpoint> loaded;  ///< none if untrained

  /// "model-500.safetensors", or "untrained".
  std::string name() const;
  std::int64_t step() const { return loaded ? loaded->checkpoint.step : 0; }
};

/// Settings are read as those of `command`, which is one of `mode`. Throws UserError if nothing
/// says which network it is or settings contradict the weights.
ExportedWeights load_for_export(const ExportSource& source, config::Mode mode,
                                config::Command command, const ExportHooks& hooks);

/// The image that a network is exported for: given rows and columns or, where these are 0, the
/// detector's, halved as often as data.downsample says.
data::DenseShape exported_image(const config::Configuration& configuration, std::int64_t rows,
                                std::int64_t columns);

}  // namespace cosmic::run
