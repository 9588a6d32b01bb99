#include "config/key.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/configuration.hpp"
#include "config/utf8.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::config {
namespace {

[[noreturn]] void refuse(const Key& key, std::string_view text, std::string_view problem) {
  throw UserError(fmt::format("{} = {} {} (it means: {}); give a value of this kind: {}", key.name,
                              printable(text), problem, key.meaning, key.type_text()));
}

template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

Value parse_boolean(const Key& key, std::string_view text) {
  if (text == "True" || text == "true" || text == "1") {
    return true;
  }
  if (text == "False" || text == "false" || text == "0") {
    return false;
  }
  refuse(key, text, "is neither true nor false");
}

Value parse_integer(const Key& key, std::string_view text) {
  const auto number = whole_text_as<std::int64_t>(text);
  if (!number) {
    refuse(key, text, "is not a whole number");
  }
  if (!key.range.holds(static_cast<double>(*number))) {
    refuse(key, text, "is out of range");
  }
  return *number;
}

Value parse_real(const Key& key, std::string_view text) {
  const auto number = whole_text_as<double>(text);
  if (!number || !std::isfinite(*number)) {
    refuse(key, text, "is not a number");
  }
  if (!key.range.holds(*number)) {
    refuse(key, text, "is out of range");
  }
  return *number;
}

Value parse_text(const Key& key, std::string_view text) {
  const bool has_control = std::any_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte < 0x20 || byte == 0x7f;
  });
  COSMIC_REQUIRE(UserError, is_utf8(text) && !has_control,
                 key.name << " contains bytes that are not printable UTF-8 (it is written to logs "
                          << "and files, which could not be read back); use another name");
  COSMIC_REQUIRE(UserError, text.find("${") == std::string_view::npos,
                 key.name << " = " << printable(text)
                          << " refers to another value (this program does not expand ${...}); "
                          << "write the value itself");
  return std::string(text);
}

Value parse_texts(const Key& key, std::string_view text) {
  std::optional<std::vector<std::string>> texts = parse_list(text);
  if (!texts) {
    refuse(key, text, "is not a list");
  }
  for (const std::string& one : *texts) {
    parse_text(key, one);
  }
  return std::move(*texts);
}

Value parse_choice(const Key& key, std::string_view text) {
  const auto number = whole_text_as<std::int64_t>(text);
  for (const Choice& choice : key.choices) {
    if (choice.name == text || (number && choice.number == number)) {
      return choice.name;
    }
  }
  for (const auto& [alias, name] : key.choice_aliases) {
    if (alias == text) {
      return name;
    }
  }
  if (number) {
    refuse(key, text, "is not the number of any choice");
  }
  const std::vector<std::string_view> names = [&] {
    std::vector<std::string_view> all;
    for (const Choice& choice : key.choices) {
      all.push_back(choice.name);
    }
    return all;
  }();
  model::choose(key.name, text, names);
  return std::string(text);
}

Value parse_seconds(const Key& key, std::string_view text) {
  const double seconds = parse_duration(text);
  if (seconds < 0) {
    refuse(key, text, "is not a duration");
  }
  return seconds;
}

std::string choices_text(const Key& key) {
  std::string text;
  for (const Choice& choice : key.choices) {
    text += (text.empty() ? "" : " | ") + choice.name;
  }
  return text;
}

}  // namespace

std::string Range::text() const {
  std::string text;
  if (std::isfinite(least)) {
    text = above_least ? fmt::format("more than {}", least) : fmt::format("{} or more", least);
  }
  if (std::isfinite(most)) {
    text += text.empty() ? "" : ", ";
    text += below_most ? fmt::format("less than {}", most) : fmt::format("at most {}", most);
  }
  return text;
}

bool Range::holds(double value) const {
  return (above_least ? value > least : value >= least) &&
         (below_most ? value < most : value <= most);
}

std::string Key::type_text() const {
  const auto limited = [&](const std::string& type) {
    const std::string limits = range.text();
    return limits.empty() ? type : type + ", " + limits;
  };
  switch (kind) {
    case ValueKind::boolean:
      return "true or false";
    case ValueKind::integer:
      return limited("int");
    case ValueKind::real:
      return limited("float");
    case ValueKind::text:
      return "text";
    case ValueKind::texts:
      return "text, or a list [a,b]";
    case ValueKind::choice:
      return choices_text(*this);
    case ValueKind::duration:
      return "seconds, 90m, 1h30m or 01:30:00";
  }
  throw InternalError("a key of no kind");
}

bool Key::applies_to(const Configuration& configuration) const {
  const bool of_mode = modes.empty() || std::find(modes.begin(), modes.end(),
                                                  configuration.mode.name) != modes.end();
  const bool of_data = data_kinds.empty() ||
                       std::find(data_kinds.begin(), data_kinds.end(), configuration.data.kind()) !=
                           data_kinds.end();
  return of_mode && of_data;
}

std::optional<NoEffect> no_effect(const Key& key, const Situation& situation) {
  if (!key.without_effect.empty()) {
    return NoEffect{key.without_effect, Idle::noted};
  }
  for (const Condition& condition : key.conditions) {
    if (!condition.holds(situation)) {
      return NoEffect{condition.reason, condition.otherwise};
    }
  }
  const bool used =
      std::find(key.used_by.begin(), key.used_by.end(), situation.command) != key.used_by.end();
  return used ? std::nullopt : std::optional(NoEffect{});
}

Value parse_value(const Key& key, std::string_view text) {
  switch (key.kind) {
    case ValueKind::boolean:
      return parse_boolean(key, text);
    case ValueKind::integer:
      return parse_integer(key, text);
    case ValueKind::real:
      return parse_real(key, text);
    case ValueKind::text:
      return parse_text(key, text);
    case ValueKind::texts:
      return parse_texts(key, text);
    case ValueKind::choice:
      return parse_choice(key, text);
    case ValueKind::duration:
      return parse_seconds(key, text);
  }
  throw InternalError("a key of no kind");
}

}  // namespace cosmic::config
