// The one list of all settings. Reading, checking, printing, documenting and comparing
// configurations all go through it, so a new setting is one member of Configuration and one entry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/key.hpp"

namespace cosmic::config {

/// In the order in which they are explained.
const std::vector<Key>& schema();

/// By name or alias; null if there is none.
const Key* find_key(std::string_view name);
/// Throws UserError with the nearest name.
const Key& require_key(std::string_view name);

/// Whether names of keys continue this one: "mode.optimizer".
bool is_section(std::string_view name);

/// A set of values under one name: `network=a21`.
struct Group {
  std::string name;
  std::vector<std::string> choices;  ///< the first is the default
  std::string meaning;
};

const std::vector<Group>& groups();
/// Null if there is none.
const Group* find_group(std::string_view name);

/// One word for each group.
struct GroupChoices {
  std::string mode;
  std::string data;
  std::string framework;
  std::string network;

  GroupChoices();  ///< the defaults
  std::string& of(std::string_view group);
};

/// The configuration before any single value is given. Some choices bring values with them: those
/// of the groups and those of the optimizer and its schedule.
Configuration base_configuration(const GroupChoices& groups, OptimizerKind optimizer,
                                 Schedule schedule);

}  // namespace cosmic::config
