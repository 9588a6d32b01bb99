#include "config/parse.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "config/checks.hpp"
#include "config/dump.hpp"
#include "config/given.hpp"
#include "config/recipe.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::config {
namespace {

/// The words of a command line, told apart.
struct CommandLine {
  std::string recipe;
  std::filesystem::path recipe_folder;
  Given given{Repeats::last_wins};
};

class CommandLineReader {
 public:
  explicit CommandLineReader(std::span<const std::string> words) : words_(words) {}

  CommandLine read() {
    while (!words_.empty()) {
      const std::string word = take();
      if (word.starts_with("-")) {
        read_option(word);
      } else {
        read_setting(word);
      }
    }
    return std::move(line_);
  }

 private:
  std::string take() {
    std::string word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  /// `--config-name a21` and `--config-name=a21`.
  void read_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string option = word.substr(0, equals);
    const bool names_recipe = option == "--config-name" || option == "-cn";
    const bool names_folder =
        option == "--config-dir" || option == "-cd" || option == "--config-path" || option == "-cp";
    COSMIC_REQUIRE(UserError, names_recipe || names_folder,
                   "unknown option " << printable(option)
                                     << "; settings are key=value, and recipes are "
                                     << "chosen with --config-name NAME [--config-dir FOLDER]");
    COSMIC_REQUIRE(
        UserError, equals != std::string::npos || !words_.empty(),
        option << " has no value; write " << option << (names_recipe ? " NAME" : " FOLDER"));
    const std::string value = equals == std::string::npos ? take() : word.substr(equals + 1);
    COSMIC_REQUIRE(UserError, !value.empty(), option << " has an empty value; name a recipe");
    if (names_recipe) {
      if (!line_.recipe.empty()) {
        line_.given.note(fmt::format("{} was given twice; {} is used", option, printable(value)));
      }
      line_.recipe = value;
    } else {
      line_.recipe_folder = value;
    }
  }

  void read_setting(const std::string& word) {
    const std::size_t equals = word.find('=');
    COSMIC_REQUIRE(UserError, equals != std::string::npos && equals > 0,
                   printable(word)
                       << " is not a setting (settings are key=value, such as run.id=01); "
                       << "`cosmictagger config --help` lists all keys");
    std::string_view key = std::string_view(word).substr(0, equals);
    // Hydra's marks for a key that is new, or new perhaps; every key is known here.
    while (key.starts_with("+")) {
      key.remove_prefix(1);
    }
    if (key.starts_with("hydra/") || key.starts_with("hydra.")) {
      line_.given.note(
          fmt::format("{} is ignored: this program does not use Hydra", printable(word)));
      return;
    }
    if (key.starts_with("framework.environment_variables.")) {
      line_.given.note(fmt::format("{} is not used by this program", printable(word)));
      return;
    }
    line_.given.add(key, unquoted(std::string_view(word).substr(equals + 1)));
  }

  /// Quotes that the shell left in place: run.id='"01"'. Those of several texts are a list's.
  static std::string_view unquoted(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                        (text.front() == '\'' || text.front() == '"');
    const std::string_view inside = quoted ? text.substr(1, text.size() - 2) : text;
    return quoted && inside.find(text.front()) == std::string_view::npos ? inside : text;
  }

  std::span<const std::string> words_;
  CommandLine line_;
};

/// "a, b, c", or the first few of many.
std::string listed(const std::vector<std::string>& words) {
  constexpr std::size_t kMostShown = 6;
  const std::size_t shown = std::min(words.size(), kMostShown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + words[i];
  }
  return shown == words.size() ? text : fmt::format("{} and {} more", text, words.size() - shown);
}

/// Defaults, the recipe and the command line, put together.
class Resolution {
 public:
  Resolution(const Given& recipe, std::string recipe_name, const Given& command_line,
             const ParseOptions& options)
      : recipe_(recipe),
        recipe_name_(std::move(recipe_name)),
        command_line_(command_line),
        options_(options) {}

  Resolved resolve() {
    for (const Given* given : {&recipe_, &command_line_}) {
      notes_.insert(notes_.end(), given->notes().begin(), given->notes().end());
    }
    configuration_ =
        base_configuration(chosen_groups(), chosen("mode.optimizer.name", OptimizerConfig().name),
                           chosen("mode.optimizer.schedule", OptimizerConfig().schedule));
    const Configuration base = configuration_;
    note_recipe_beside_chosen_network();
    apply_recipe();
    apply_command_line();
    require_run_id();
    take_settings_of_weights();
    note_values_without_effect(base);
    answer_idle_settings(base);
    if (configuration_.output_dir.empty()) {
      configuration_.output_dir = default_output_dir(configuration_);
    }
    check(configuration_);
    return {std::move(configuration_), std::move(notes_)};
  }

 private:
  GroupChoices chosen_groups() {
    GroupChoices groups;
    for (const Given* given : {&recipe_, &command_line_}) {
      for (const auto& [group, choice] : given->choices()) {
        groups.of(group) = choice;
      }
    }
    if (options_.mode) {
      const std::string mode = model::to_string(*options_.mode);
      const auto asked = command_line_.choices().find("mode");
      COSMIC_REQUIRE(UserError, asked == command_line_.choices().end() || asked->second == mode,
                     "mode=" << asked->second << " in a command that implies mode=" << mode
                             << " ; leave it out, or use the matching command");
      groups.mode = mode;
    }
    return groups;
  }

  /// Of a setting that brings values with it.
  template <model::TextEnum Choice>
  Choice chosen(std::string_view name, Choice unless_given) const {
    const Key& key = require_key(name);
    for (const Given* given : {&command_line_, &recipe_}) {
      const auto found = given->values().find(&key);
      if (found != given->values().end()) {
        return model::parse_enum<Choice>(std::get<std::string>(found->second.value));
      }
    }
    return unless_given;
  }

  /// `--config-name mine network=a21`: what the recipe says about its own network stays, which may
  /// surprise.
  void note_recipe_beside_chosen_network() {
    const auto asked = command_line_.choices().find("network");
    if (asked == command_line_.choices().end()) {
      return;
    }
    std::vector<std::string> changes;
    for (const auto& [key, entry] : recipe_.values()) {
      if (key->name.starts_with("network.") && key->read(configuration_) != entry.value &&
          !command_line_.values().contains(key)) {
        changes.push_back(key->name + "=" + printable(entry.text));
      }
    }
    if (!changes.empty()) {
      notes_.push_back(fmt::format(
          "the recipe overrides parts of network={}: {}; to change these, give the keys as well",
          asked->second, listed(changes)));
    }
  }

  /// A recipe may serve several modes, so values for another one are left alone.
  void apply_recipe() {
    std::vector<std::string> unused;
    for (const auto& [key, entry] : recipe_.values()) {
      if (key->applies_to(configuration_)) {
        key->write(configuration_, entry.value);
      } else {
        unused.push_back(key->name);
      }
    }
    if (!unused.empty()) {
      notes_.push_back(
          "ignored in the recipe, because the mode or the kind of data does not use it: " +
          listed(unused));
    }
  }

  void apply_command_line() {
    for (const auto& [key, entry] : command_line_.values()) {
      COSMIC_REQUIRE(UserError, key->applies_to(configuration_),
                     key->name << " = " << printable(entry.text) << " has no meaning with mode="
                               << model::to_string(configuration_.mode.name)
                               << " data=" << model::to_string(configuration_.data.kind())
                               << "; leave it out, or choose the mode or data it belongs to");
      key->write(configuration_, entry.value);
    }
  }

  void take_settings_of_weights() {
    if (!options_.weights) {
      return;
    }
    Configuration asked = configuration_;
    if (asked.output_dir.empty()) {
      asked.output_dir = default_output_dir(asked);
    }
    const std::optional<WeightsRecord> record = options_.weights({asked, command()});
    if (!record) {
      return;
    }
    const std::map<const Key*, Value> settings = readable_settings(*record);
    std::vector<std::string> taken;
    for (const auto& [key, value] : settings) {
      if (key->applies_to(configuration_) && key->read(configuration_) != value &&
          !given_by(*key, settings)) {
        key->write(configuration_, value);
        taken.push_back(key->name + "=" + escaped(to_text(value)));
      }
    }
    if (!taken.empty()) {
      notes_.push_back("from the weights in " + record->file + ": " + listed(taken));
    }
    // A run stays where its checkpoints are, whatever its network is called there.
    if (asked.mode.weights_location.empty() || record->use == WeightsUse::continued) {
      configuration_.output_dir = asked.output_dir;
    }
    require_no_contradiction(settings, *record);
  }

  /// None of a record that cannot be read, if somebody else says so or nobody is to.
  std::map<const Key*, Value> readable_settings(const WeightsRecord& record) const {
    try {
      return settings_of(record);
    } catch (const UserError&) {
      if (!configuration_.mode.insist_on_settings && record.use == WeightsUse::applied) {
        throw;
      }
      return {};
    }
  }

  /// Who gave it, beside a default; empty for the command line. A network of the name that the
  /// weights' own has is that network, whatever was changed in it.
  std::optional<std::string> given_by(const Key& key,
                                      const std::map<const Key*, Value>& of_weights) const {
    if (command_line_.values().contains(&key)) {
      return "";
    }
    if (recipe_.values().contains(&key)) {
      return recipe_name_;
    }
    if (!key.name.starts_with("network.")) {
      return std::nullopt;
    }
    const auto name = of_weights.find(&require_key("network.name"));
    for (const Given* given : {&command_line_, &recipe_}) {
      const auto choice = given->choices().find("network");
      if (choice != given->choices().end()) {
        const bool theirs = name != of_weights.end() && std::get<std::string>(name->second) ==
                                                            model::preset(choice->second).name;
        return theirs ? std::nullopt : std::optional("network=" + choice->second);
      }
    }
    return std::nullopt;
  }

  void require_no_contradiction(const std::map<const Key*, Value>& settings,
                                const WeightsRecord& record) {
    if (record.use == WeightsUse::continued) {
      return;
    }
    std::vector<Contradiction> found = contradictions(settings, {configuration_, command()});
    for (Contradiction& one : found) {
      one.given_by = given_by(require_key(one.key), settings).value_or("");
    }
    COSMIC_REQUIRE(UserError, found.empty() || configuration_.mode.insist_on_settings,
                   refusal_of(found, record.file));
    if (!found.empty()) {
      notes_.push_back(insistence_on(found, record.file));
    }
  }

  void note_values_without_effect(const Configuration& base) {
    for (const Key& key : schema()) {
      if (!key.without_effect.empty() && key.read(base) != key.read(configuration_)) {
        notes_.push_back(fmt::format("{}={} has no effect: {}", key.name,
                                     to_text(key.read(configuration_)), key.without_effect));
      }
    }
  }

  Command command() const {
    if (options_.command) {
      return *options_.command;
    }
    switch (configuration_.mode.name) {
      case Mode::train:
        return Command::train;
      case Mode::inference:
        return Command::infer;
      case Mode::iotest:
        return Command::iotest;
    }
    COSMIC_ASSERT(false);
  }

  /// Settings of the command line that cannot have any effect. Those of a recipe serve other
  /// commands and machines too.
  void answer_idle_settings(const Configuration& base) {
    const Situation situation{configuration_, command()};
    const std::string name = "`" + model::to_string(situation.command) + "`";
    std::string unused;
    for (const auto& [key, entry] : command_line_.values()) {
      const std::optional<NoEffect> none = no_effect(*key, situation);
      if (!none || !key->without_effect.empty()) {  // those were noted
        continue;
      }
      if (none->reason.empty()) {
        unused += (unused.empty() ? "" : ", ") + key->name;
        continue;
      }
      // At its default it asks for nothing that it would not get.
      const bool asks = key->read(base) != key->read(configuration_);
      COSMIC_REQUIRE(UserError, none->answer == Idle::noted || !asks,
                     key->name << " = " << printable(entry.text) << " has no effect in " << name
                               << " here (" << none->reason << "); leave it out");
      notes_.push_back(fmt::format("{}={} has no effect: {}", key->name, entry.text, none->reason));
    }
    if (!unused.empty()) {
      notes_.push_back(fmt::format("{} does not use {}", name, unused));
    }
  }

  void require_run_id() {
    if (configuration_.run.id != kMissing) {
      return;
    }
    if (!options_.default_run_id.empty()) {
      configuration_.run.id = options_.default_run_id;
    }
    COSMIC_REQUIRE(UserError,
                   configuration_.run.id != kMissing || options_.missing == MissingKeys::leave,
                   "run.id is missing (it names the run and its folder); give one, such as "
                   "run.id=01");
  }

  const Given& recipe_;
  std::string recipe_name_;
  const Given& command_line_;
  const ParseOptions& options_;
  Configuration configuration_;
  std::vector<std::string> notes_;
};

}  // namespace

Resolved parse(std::span<const std::string> arguments, const ParseOptions& options) {
  const CommandLine line = CommandLineReader(arguments).read();
  const RecipeText text =
      line.recipe.empty() ? options.recipe : find_recipe(line.recipe, line.recipe_folder);
  const Given recipe = text.text.empty() ? Given(Repeats::refused) : read_recipe(text);
  return Resolution(recipe, text.name, line.given, options).resolve();
}

Configuration from_yaml(std::string_view text, const std::string& name) {
  const Given recipe = read_recipe({name, std::string(text)});
  const Given nothing(Repeats::refused);
  const ParseOptions options{.missing = MissingKeys::leave};
  return Resolution(recipe, name, nothing, options).resolve().configuration;
}

}  // namespace cosmic::config
