#include "config/given.hpp"

#include <fmt/core.h>

#include "config/schema.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "model/enum_text.hpp"

namespace cosmic::config {
namespace {

void require_choice_of(const Group& group, std::string_view text) {
  const std::vector<std::string_view> names(group.choices.begin(), group.choices.end());
  model::choose(group.name, text, names);
}

/// data.synthetic and data.detector are the ones that are not themselves the word of the group.
std::string choice_of(const Key& key, const Value& value) {
  if (const bool* chosen = std::get_if<bool>(&value)) {
    COSMIC_ASSERT(key.group == "data");
    const DataKind kind = key.name == "data.detector" ? DataKind::detector : DataKind::synthetic;
    return model::to_string(*chosen ? kind : DataKind::real);
  }
  return std::get<std::string>(value);
}

void require_no_section(std::string_view name) {
  COSMIC_REQUIRE(UserError, !is_section(name),
                 "'" << name << "' is a section of keys and takes no value; give one of its keys ("
                     << "`cosmictagger config --help` lists them)");
}

}  // namespace

void Given::add(std::string_view name, std::string_view text) {
  if (const Group* group = find_group(name)) {
    require_choice_of(*group, text);
    add_choice(group->name, std::string(text));
    return;
  }
  require_no_section(name);
  const Key& key = require_key(name);
  Value value = parse_value(key, text);
  if (!key.group.empty()) {
    add_choice(key.group, choice_of(key, value));
    return;
  }
  const auto found = values_.find(&key);
  if (found != values_.end()) {
    require_new(key.name, found->second.text, text);
  }
  values_[&key] = {std::string(text), std::move(value)};
}

void Given::add_choice(const std::string& group, const std::string& choice) {
  const auto found = choices_.find(group);
  if (found != choices_.end() && found->second != choice) {
    require_new(group, found->second, choice);
  }
  choices_[group] = choice;
}

void Given::require_new(std::string_view name, std::string_view before, std::string_view now) {
  COSMIC_REQUIRE(UserError, repeats_ == Repeats::last_wins,
                 name << " is given twice, as " << printable(before) << " and as " << printable(now)
                      << " (only one value is possible); remove one of them");
  note(fmt::format("{} was given twice, as {} and as {}; the last one is used", name,
                   printable(before), printable(now)));
}

}  // namespace cosmic::config
