// Settings that belong to a network's weights: with another value the same weights would give other
// answers, or fit no more. Which these are, and why, the key list says (Key::of_weights). Whoever
// takes up weights takes these settings from them too, and holds what somebody gave against them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "config/key.hpp"

namespace cosmic::config {

enum class WeightsUse {
  applied,    ///< to events, or as the start of another run
  continued,  ///< by the run that made them; require_resumable says what may change then
};

/// What weights keep about the run that made them.
struct WeightsRecord {
  std::string file;           ///< as messages name it
  std::string configuration;  ///< what to_yaml wrote; empty if they do not say
  WeightsUse use = WeightsUse::applied;
};

/// A setting that has another value than the weights were trained with.
struct Contradiction {
  std::string key;
  std::string value;
  std::string given_by;  ///< "network=a21", the name of a recipe; empty for the command line
  std::string of_weights;
  std::string because;  ///< why it belongs to weights

  std::string text() const;  ///< "data.downsample=0, theirs is 1"
};

/// The settings in the record that belong to weights; labels too. Empty without a configuration.
/// Throws UserError if that cannot be read.
std::map<const Key*, Value> settings_of(const WeightsRecord& record);

/// Those of `settings` that have an effect in the situation and another value there.
std::vector<Contradiction> contradictions(const std::map<const Key*, Value>& settings,
                                          const Situation& situation);

/// One sentence each: that they are refused and how to insist; that they were insisted on.
std::string refusal_of(const std::vector<Contradiction>& contradictions, const std::string& file);
std::string insistence_on(const std::vector<Contradiction>& contradictions,
                          const std::string& file);

/// "network.depth=2 ... data.downsample=1 ...": the settings that weights without a record are
/// taken to have been trained with.
std::string assumed_settings(const Situation& situation);

}  // namespace cosmic::config
