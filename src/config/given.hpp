// What one source of settings says, the command line or a recipe, before it is put together with
// the others.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/key.hpp"

namespace cosmic::config {

/// What happens when a source gives a setting twice.
enum class Repeats {
  last_wins,  ///< and is noted: people append to command lines
  refused,    ///< in a file it is a mistake
};

class Given {
 public:
  struct Entry {
    std::string text;  ///< as it was written
    Value value;
  };

  explicit Given(Repeats repeats) : repeats_(repeats) {}

  /// A value ("run.id") or the choice of a group ("network"); names may be aliases. Throws
  /// UserError for a name that nobody knows or a text that it cannot be.
  void add(std::string_view name, std::string_view text);
  void note(std::string text) { notes_.push_back(std::move(text)); }

  /// Group and choice.
  const std::map<std::string, std::string, std::less<>>& choices() const { return choices_; }
  /// In the order of the schema.
  const std::map<const Key*, Entry>& values() const { return values_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_choice(const std::string& group, const std::string& choice);
  void require_new(std::string_view name, std::string_view before, std::string_view now);

  Repeats repeats_;
  std::map<std::string, std::string, std::less<>> choices_;
  std::map<const Key*, Entry> values_;
  std::vector<std::string> notes_;
};

}  // namespace cosmic::config
