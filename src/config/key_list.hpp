// How entries of the schema are written. Name, type and default of a key come from the member it
// stands for: COSMIC_KEY(run.minibatch_size) is "run.minibatch_size", an int, 2 unless told.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/configuration.hpp"
#include "config/key.hpp"
#include "core/limits.hpp"

namespace cosmic::config {

/// Puts together one Key; the calls read as a sentence.
class KeyEntry {
 public:
  explicit KeyEntry(Key key) : key_(std::move(key)) {}

  /// One sentence without a full stop.
  KeyEntry& says(std::string meaning) {
    key_.meaning = std::move(meaning);
    return *this;
  }
  KeyEntry& at_least(double least) {
    key_.range.least = least;
    return *this;
  }
  KeyEntry& more_than(double least) {
    key_.range.least = least;
    key_.range.above_least = true;
    return *this;
  }
  KeyEntry& at_most(double most) {
    key_.range.most = most;
    return *this;
  }
  KeyEntry& less_than(double most) {
    key_.range.most = most;
    key_.range.below_most = true;
    return *this;
  }
  /// The reference's numbers of the choices, in our order; choices beyond the list have none.
  KeyEntry& numbered(const std::vector<std::int64_t>& numbers) {
    for (std::size_t i = 0; i < key_.choices.size(); ++i) {
      key_.choices[i].number = i < numbers.size() ? std::optional(numbers[i]) : std::nullopt;
    }
    return *this;
  }
  /// A choice that the reference does not have, or not by number.
  KeyEntry& without_numbers() { return numbered({}); }
  KeyEntry& also_called(std::vector<std::string> aliases) {
    key_.aliases = std::move(aliases);
    return *this;
  }
  KeyEntry& choice_also_called(std::string alias, std::string name) {
    key_.choice_aliases.emplace_back(std::move(alias), std::move(name));
    return *this;
  }
  KeyEntry& only_in(std::vector<Mode> modes) {
    key_.modes = std::move(modes);
    return *this;
  }
  KeyEntry& only_with(std::vector<DataKind> kinds) {
    key_.data_kinds = std::move(kinds);
    return *this;
  }
  KeyEntry& only_real_data() { return only_with({DataKind::real}); }
  KeyEntry& must_be_given() {
    key_.required = true;
    return *this;
  }
  KeyEntry& set_by_group(std::string group) {
    key_.group = std::move(group);
    return *this;
  }
  KeyEntry& used_by(std::vector<Command> commands) {
    key_.used_by = std::move(commands);
    return *this;
  }
  /// Elsewhere it has no effect, for this reason, and who gives it is told so.
  KeyEntry& needs(std::function<bool(const Situation&)> holds, std::string because) {
    key_.conditions.push_back({std::move(holds), std::move(because), Idle::noted});
    return *this;
  }
  /// The same, and who gives it wants something that will not happen.
  KeyEntry& requires_that(std::function<bool(const Situation&)> holds, std::string because) {
    key_.conditions.push_back({std::move(holds), std::move(because), Idle::refused});
    return *this;
  }
  KeyEntry& does_nothing(std::string because) {
    key_.without_effect = std::move(because);
    return *this;
  }
  KeyEntry& on_resume(OnResume on_resume) {
    key_.on_resume = on_resume;
    return *this;
  }
  KeyEntry& belongs_to_weights(std::string because) {
    key_.of_weights = OfWeights::belongs;
    key_.of_weights_because = std::move(because);
    return *this;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): a list of entries is a list of keys
  operator Key() const { return key_; }

 private:
  Key key_;
};

template <class Member>
constexpr ValueKind kind_of() {
  if constexpr (std::same_as<Member, bool>) {
    return ValueKind::boolean;
  } else if constexpr (std::same_as<Member, std::int64_t>) {
    return ValueKind::integer;
  } else if constexpr (std::same_as<Member, double>) {
    return ValueKind::real;
  } else if constexpr (std::same_as<Member, std::string>) {
    return ValueKind::text;
  } else if constexpr (std::same_as<Member, std::vector<std::string>>) {
    return ValueKind::texts;
  } else if constexpr (std::same_as<Member, Duration>) {
    return ValueKind::duration;
  } else {
    static_assert(model::TextEnum<Member>, "specialise model::EnumText for this enumeration");
    return ValueKind::choice;
  }
}

/// `member` takes a configuration and returns a reference to the member.
template <class Access>
KeyEntry key_of_member(std::string name, Access member) {
  using Member = std::remove_cvref_t<decltype(member(std::declval<Configuration&>()))>;
  Key key;
  key.name = std::move(name);
  key.kind = kind_of<Member>();
  if constexpr (kind_of<Member>() == ValueKind::choice) {
    for (const std::string_view choice : model::EnumText<Member>::names) {
      const auto number = static_cast<std::int64_t>(key.choices.size());
      key.choices.push_back({std::string(choice), number});
    }
    key.read = [member](const Configuration& c) -> Value { return model::to_string(member(c)); };
    key.write = [member](Configuration& c, const Value& value) {
      member(c) = model::parse_enum<Member>(std::get<std::string>(value));
    };
  } else if constexpr (kind_of<Member>() == ValueKind::duration) {
    key.read = [member](const Configuration& c) -> Value { return member(c).seconds; };
    key.write = [member](Configuration& c, const Value& value) {
      member(c).seconds = std::get<double>(value);
    };
  } else {
    key.read = [member](const Configuration& c) -> Value { return member(c); };
    key.write = [member](Configuration& c, const Value& value) {
      member(c) = std::get<Member>(value);
    };
  }
  return KeyEntry(std::move(key));
}

// A macro, because only the preprocessor can give a member's name as text and so keep the two
// equal.
#define COSMIC_KEY(member)         \
  ::cosmic::config::key_of_member( \
      #member, [](auto& configuration) -> auto& { return configuration.member; })

// Which commands look at a key. `config` prints what another command would do.
inline const std::vector<Command> kAllCommands{
    Command::train,         Command::infer, Command::evaluate, Command::iotest,
    Command::compile,       Command::test,  Command::explain,  Command::measure_performance,
    Command::export_network};
/// They make programs of a network, or say what one would do.
inline const std::vector<Command> kProgramCommands{
    Command::train, Command::infer,   Command::evaluate,           Command::compile,
    Command::test,  Command::explain, Command::measure_performance};
/// They run programs.
inline const std::vector<Command> kRunningCommands{
    Command::train, Command::infer, Command::evaluate, Command::test, Command::measure_performance};
/// They have a network, if only to write it to a file.
inline const std::vector<Command> kNetworkCommands{Command::train,    Command::infer,
                                                   Command::evaluate, Command::compile,
                                                   Command::test,     Command::measure_performance,
                                                   Command::explain,  Command::export_network};
/// They have a folder of their own and go through events.
inline const std::vector<Command> kRunCommands{Command::train, Command::infer, Command::evaluate};

/// Conditions that several keys have.
bool on_modelled_machine(const Situation& situation);
bool on_events(const Situation& situation);

std::vector<Key> run_keys();
std::vector<Key> mode_keys();
std::vector<Key> data_keys();
std::vector<Key> framework_keys();
std::vector<Key> network_keys();

}  // namespace cosmic::config
