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

/// What a setting has to do with weights that somebody takes up.
enum class OfWeights {
  independent,  ///< nothing: they serve with any value
  describes,    ///< it is what they are called; taken from them where nobody gave it
  belongs,      ///< they were trained with one value, and another gives other answers or none
};

/// Who is told what: settings have an effect or none by these two.
struct Situation {
  const Configuration& configuration;
  Command command;
};

/// What becomes of a setting that somebody gave and that cannot have any effect.
enum class Idle {
  noted,    ///< a line says so; for what the reference accepts, and for what harms nobody
  refused,  ///< whoever gave it wants what will not happen
};

/// A key has an effect only where it holds.
struct Condition {
  std::function<bool(const Situation&)> holds;
  std::string reason;  ///< that it has none elsewhere: "only an RDU has sections"
  Idle otherwise = Idle::noted;
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
  std::vector<DataKind> data_kinds;                                 ///< empty: all
  bool required = false;
  std::string group;             ///< whose choice sets this value ("mode" sets mode.name), or empty
  std::string without_effect;    ///< why it is accepted and does nothing; empty for most
  std::vector<Command> used_by;  ///< commands that look at it
  std::vector<Condition> conditions;  ///< under which they do
  OnResume on_resume = OnResume::may_change;
  OfWeights of_weights = OfWeights::independent;
  std::string of_weights_because;  ///< why it belongs to them
  std::function<Value(const Configuration&)> read;
  std::function<void(Configuration&, const Value&)> write;

  /// "int", "float, more than 0", "float32 | mixed | bfloat16 | float16".
  std::string type_text() const;
  bool applies_to(const Configuration& configuration) const;
};

/// Why a key has no effect, and what becomes of it if it is given.
struct NoEffect {
  std::string reason;  ///< empty: the command does not look at it
  Idle answer = Idle::noted;
};

/// Nothing where it has one. Modes and kinds of data are applies_to()'s.
std::optional<NoEffect> no_effect(const Key& key, const Situation& situation);

/// The value that a text means for a key. Throws UserError naming key, text and what is allowed.
Value parse_value(const Key& key, std::string_view text);

}  // namespace cosmic::config
