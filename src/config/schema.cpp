#include "config/schema.hpp"

#include <algorithm>
#include <map>

#include "config/key_list.hpp"
#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"

namespace cosmic::config {
namespace {

std::vector<Key> all_keys() {
  std::vector<Key> all;
  for (auto part : {run_keys, mode_keys, data_keys, network_keys, framework_keys}) {
    for (Key& key : part()) {
      all.push_back(std::move(key));
    }
  }
  return all;
}

/// Names and aliases.
const std::map<std::string_view, const Key*>& index() {
  static const std::map<std::string_view, const Key*> names = [] {
    std::map<std::string_view, const Key*> result;
    for (const Key& key : schema()) {
      COSMIC_ASSERT(result.emplace(key.name, &key).second);
      for (const std::string& alias : key.aliases) {
        COSMIC_ASSERT(result.emplace(alias, &key).second);
      }
    }
    return result;
  }();
  return names;
}

/// A key without its section ("minibatch_size") is meant more often than a mistyped other one.
std::string_view most_likely_key(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Key& key : schema()) {
    if (std::string_view(key.name).ends_with("." + std::string(name))) {
      return key.name;
    }
    names.push_back(key.name);
  }
  for (const Group& group : groups()) {
    names.push_back(group.name);
  }
  return nearest_name(name, names);
}

template <model::TextEnum Enum>
std::vector<std::string> names_of() {
  return {model::EnumText<Enum>::names.begin(), model::EnumText<Enum>::names.end()};
}

void take_values_of(OptimizerKind kind, OptimizerConfig& optimizer) {
  optimizer.name = kind;
  if (kind == OptimizerKind::rmsprop) {
    optimizer.epsilon = 1e-4;
  } else if (kind == OptimizerKind::adamw) {
    optimizer.weight_decay = 0.01;
  }
}

void take_values_of(Schedule schedule, OptimizerConfig& optimizer) {
  optimizer.schedule = schedule;
  if (schedule == Schedule::cosine) {
    optimizer.floor_learning_rate = 0;
  }
}

void take_values_of(Mode mode, Configuration& configuration) {
  configuration.mode.name = mode;
  if (mode == Mode::inference) {
    configuration.run.iterations = 0;
    configuration.data.order = EventOrder::serial_access;
  }
}

void take_values_of(DataKind kind, DataConfig& data) {
  data.synthetic = kind == DataKind::synthetic;
  data.detector = kind == DataKind::detector;
  if (data.detector) {
    data.order = EventOrder::serial_access;  // one after the other: there is nothing to draw from
  }
}

}  // namespace

bool on_modelled_machine(const Situation& situation) {
  const ComputeMode mode = situation.configuration.run.compute_mode;
  return mode == ComputeMode::hpu || mode == ComputeMode::ipu || mode == ComputeMode::rdu;
}

bool on_events(const Situation& situation) {
  return !situation.configuration.data.synthetic;
}

const std::vector<Key>& schema() {
  static const std::vector<Key> keys = all_keys();
  return keys;
}

const Key* find_key(std::string_view name) {
  const auto found = index().find(name);
  return found == index().end() ? nullptr : found->second;
}

const Key& require_key(std::string_view name) {
  const Key* key = find_key(name);
  if (key == nullptr) {
    throw UserError("unknown key " + printable(name) + "; did you mean '" +
                    std::string(most_likely_key(name)) +
                    "'? `cosmictagger config --help` lists all keys");
  }
  return *key;
}

bool is_section(std::string_view name) {
  const std::string start = std::string(name) + ".";
  const auto next = index().lower_bound(start);
  return next != index().end() && next->first.starts_with(start);
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"mode", names_of<Mode>(), "What the run does"},
      {"data", names_of<DataKind>(),
       "Events from larcv3 files, noise for timing, or events that the simulated detector makes, "
       "each of them new"},
      {"network", model::preset_names(), "A network preset; change it with network.*"},
      {"framework", names_of<Framework>(),
       "Accepted for compatibility with the reference; only the output path depends on it"},
  };
  return all;
}

const Group* find_group(std::string_view name) {
  const auto found = std::find_if(groups().begin(), groups().end(),
                                  [&](const Group& group) { return group.name == name; });
  return found == groups().end() ? nullptr : &*found;
}

GroupChoices::GroupChoices() {
  for (const Group& group : groups()) {
    of(group.name) = group.choices.front();
  }
}

std::string& GroupChoices::of(std::string_view group) {
  if (group == "mode") {
    return mode;
  }
  if (group == "data") {
    return data;
  }
  if (group == "network") {
    return network;
  }
  COSMIC_ASSERT(group == "framework");
  return framework;
}

Configuration base_configuration(const GroupChoices& groups, OptimizerKind optimizer,
                                 Schedule schedule) {
  Configuration configuration;
  take_values_of(model::parse_enum<Mode>(groups.mode), configuration);
  take_values_of(optimizer, configuration.mode.optimizer);
  take_values_of(schedule, configuration.mode.optimizer);
  take_values_of(model::parse_enum<DataKind>(groups.data), configuration.data);
  configuration.framework.name = model::parse_enum<Framework>(groups.framework);
  configuration.network = model::preset(groups.network);
  return configuration;
}

}  // namespace cosmic::config
