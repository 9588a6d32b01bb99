// What the program knows about one setting: enough to read it, to check it, to print it, to
// document it, and to decide whether a run may resume with another value.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/choices.hpp"
#include "config/value.hpp"

namespace cosmic::config {

struct Configuration;

struct Choice {
  std::string name;
  std::optional<std::int64_t> number;  ///< of the reference's enumeration, which is accepted too
};

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< `least` itself is not allowed
  bool below_most = false;   ///< `most` itself is not allowed
  std::string text() const;  ///< "0 or more", "more than 0"; empty without limits
  bool holds(double) const;
};

/// A run that resumes from a checkpoint with another value of this key ...
enum class OnResume {
  refuse,      ///< cannot: the weights or the state of the optimizer would not fit
  warn,        ///< can, but gives other results than an uninterrupted run
  may_change,  ///< gives the same results
};

struct Key {
  std::string name;  ///< dotted
  ValueKind kind = ValueKind::text;
  std::vector<Choice> choices;  ///< of ValueKind::choice
  Range range;
  std::string meaning;  ///< one sentence
  std::vector<std::string> aliases;
  std::vector<std::pair<std::string, std::string>> choice_aliases;  ///< another word, the word
  std::vector<Mode> modes;                                          ///< empty: all
  bool real_data_only = false;
  bool required = false;
  std::string group;           ///< whose choice sets this value ("mode" sets mode.name), or empty
  std::string without_effect;  ///< why it is accepted and does nothing; empty for most
  OnResume on_resume = OnResume::may_change;
  std::function<Value(const Configuration&)> read;
  std::function<void(Configuration&, const Value&)> write;

  /// "int", "float, more than 0", "float32 | mixed | bfloat16 | float16".
  std::string type_text() const;
  bool applies_to(const Configuration& configuration) const;
};

/// The value that a text means for a key. Throws UserError naming key, text and what is allowed.
Value parse_value(const Key& key, std::string_view text);

}  // namespace cosmic::config
