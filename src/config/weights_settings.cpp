#include "config/weights_settings.hpp"

#include <algorithm>

#include "config/recipe.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::config {
namespace {

constexpr const char* kInsist = "mode.insist_on_settings=true";

/// The first few; a wrong network may differ in twenty.
std::string few_of(const std::vector<Contradiction>& contradictions) {
  constexpr std::size_t kMostShown = 3;
  const std::size_t shown = std::min(contradictions.size(), kMostShown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : "; ") + contradictions[i].text();
  }
  return shown == contradictions.size()
             ? text
             : text + "; and " + std::to_string(contradictions.size() - shown) + " more";
}

}  // namespace

std::string Contradiction::text() const {
  return key + "=" + escaped(value) + (given_by.empty() ? "" : " of " + given_by) + ", theirs is " +
         escaped(of_weights);
}

std::map<const Key*, Value> settings_of(const WeightsRecord& record) {
  std::map<const Key*, Value> settings;
  if (record.configuration.empty()) {
    return settings;
  }
  try {
    const Given given = read_recipe({"configuration in " + record.file, record.configuration});
    for (const auto& [key, entry] : given.values()) {
      if (key->of_weights != OfWeights::independent) {
        settings.emplace(key, entry.value);
      }
    }
  } catch (const UserError& error) {
    throw UserError(std::string(error.what()) +
                    " (so nobody can tell which settings the weights were trained with); use the "
                    "version of the program that wrote them, or give all settings of the network "
                    "and the data and say " +
                    kInsist);
  }
  return settings;
}

std::vector<Contradiction> contradictions(const std::map<const Key*, Value>& settings,
                                          const Situation& situation) {
  std::vector<Contradiction> result;
  for (const Key& key : schema()) {  // in the order in which they are explained
    const auto setting = settings.find(&key);
    if (setting == settings.end() || key.of_weights != OfWeights::belongs ||
        !key.applies_to(situation.configuration)) {
      continue;
    }
    const Value value = key.read(situation.configuration);
    if (value != setting->second && !no_effect(key, situation)) {
      result.push_back(
          {key.name, to_text(value), "", to_text(setting->second), key.of_weights_because});
    }
  }
  return result;
}

std::string refusal_of(const std::vector<Contradiction>& contradictions, const std::string& file) {
  const bool one = contradictions.size() == 1;
  return std::string(one ? "a setting contradicts" : "settings contradict") + " the weights in " +
         file + ": " + few_of(contradictions) + " (" + contradictions.front().because +
         "); leave " + (one ? "it" : "them") + " out to use theirs, or say " + kInsist +
         " to use yours";
}

std::string insistence_on(const std::vector<Contradiction>& contradictions,
                          const std::string& file) {
  return std::string("settings that contradict the weights in ") + file +
         " are used all the same (" + kInsist + "): " + few_of(contradictions);
}

std::string assumed_settings(const Situation& situation) {
  std::string text;
  for (const Key& key : schema()) {
    if (key.of_weights == OfWeights::belongs && key.applies_to(situation.configuration) &&
        !no_effect(key, situation)) {
      text +=
          (text.empty() ? "" : " ") + key.name + "=" + to_text(key.read(situation.configuration));
    }
  }
  return text;
}

}  // namespace cosmic::config
