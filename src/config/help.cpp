#include "config/help.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "config/configuration.hpp"
#include "config/recipe.hpp"
#include "config/recipe_library.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

struct Section {
  std::string_view prefix;  ///< of the keys
  std::string_view title;
};

constexpr Section kSections[] = {
    {"run.", "run: how long, where and how"},
    {"output_dir", "output_dir: where results go"},
    {"mode.", "mode: what to do"},
    {"mode.optimizer.", "mode.optimizer: how the network learns"},
    {"data.", "data: which events to use"},
    {"network.", "network: the network"},
    {"framework.", "framework: for compatibility with the reference"},
};

constexpr std::size_t kLineWidth = 96;

/// The one with the longest prefix that fits.
const Section& section_of(const Key& key) {
  const Section* best = nullptr;
  for (const Section& section : kSections) {
    if (key.name.starts_with(section.prefix) &&
        (best == nullptr || section.prefix.size() > best->prefix.size())) {
      best = &section;
    }
  }
  COSMIC_ASSERT(best != nullptr);
  return *best;
}

bool has_mode(const Key& key, Mode mode) {
  return key.modes.empty() ||
         std::find(key.modes.begin(), key.modes.end(), mode) != key.modes.end();
}

std::string default_text(const Key& key) {
  return to_text(key.read(Configuration()));
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : std::string(between)) + word;
  }
  return text;
}

/// Which modes and data a key is for, if not all; other names; that it does nothing.
std::string remarks(const Key& key) {
  std::vector<std::string> parts;
  if (!key.modes.empty()) {
    std::vector<std::string> modes;
    for (const Mode mode : key.modes) {
      modes.push_back(model::to_string(mode));
    }
    parts.push_back("mode=" + joined(modes, ", mode="));
  }
  if (!key.data_kinds.empty() && key.group.empty()) {
    std::vector<std::string> kinds;
    for (const DataKind kind : key.data_kinds) {
      kinds.push_back(model::to_string(kind));
    }
    parts.push_back("data=" + joined(kinds, ", data="));
  }
  if (!key.aliases.empty()) {
    parts.push_back("also " + joined(key.aliases, ", "));
  }
  if (key.of_weights == OfWeights::belongs) {
    parts.emplace_back("belongs to weights");
  }
  if (!key.without_effect.empty()) {
    parts.push_back("accepted, but has no effect: " + key.without_effect);
  }
  return joined(parts, "; ");
}

/// A text wrapped into lines of limited length, each with the same indent.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::string line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && indent + line.size() + 1 + word.size() > kLineWidth) {
      result += std::string(indent, ' ') + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return result + std::string(indent, ' ') + line + '\n';
}

std::string help_of(const Key& key) {
  const std::string type = key.kind == ValueKind::text ? "" : key.type_text();
  const std::string value = key.required ? "  (must be given)" : "=" + default_text(key);
  std::string text = fmt::format("  {:<44}  {}", key.name + value, type);
  text.erase(text.find_last_not_of(' ') + 1);
  if (text.size() > kLineWidth) {
    text = "  " + key.name + value + '\n' + wrapped(type, 6);
    text.pop_back();
  }
  const std::string remark = remarks(key);
  return text + '\n' + wrapped(key.meaning + (remark.empty() ? "" : " [" + remark + "]"), 6);
}

/// Bars would end a cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

/// The values of a choice with their numbers in the reference.
std::string markdown_type(const Key& key) {
  if (key.kind != ValueKind::choice) {
    return key.type_text();
  }
  std::vector<std::string> words;
  for (const Choice& choice : key.choices) {
    words.push_back("`" + choice.name + "`" +
                    (choice.number ? fmt::format(" {}", *choice.number) : ""));
  }
  for (const auto& [alias, name] : key.choice_aliases) {
    words.push_back(fmt::format("`{}` for `{}`", alias, name));
  }
  return joined(words, ", ");
}

std::string on_resume_text(OnResume on_resume) {
  switch (on_resume) {
    case OnResume::refuse:
      return "no";
    case OnResume::warn:
      return "with a warning";
    case OnResume::may_change:
      return "yes";
  }
  return "";
}

std::string row(const Key& key) {
  const std::string value = default_text(key);
  const std::string remark = remarks(key);
  const std::string meaning = key.meaning + (remark.empty() ? "" : " (" + remark + ")");
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, cell(markdown_type(key)),
                     key.required    ? "must be given"
                     : value.empty() ? ""
                                     : "`" + value + "`",
                     cell(meaning), on_resume_text(key.on_resume));
}

constexpr std::string_view kHowTo = R"(Settings are words of the form key=value, in any order:

  mode=train network=a21 run.id=01          choose from a group, or set a value by its dotted key
  --config-name NAME                        a built-in recipe, or a YAML file
  --config-dir FOLDER                       where your own recipes are

Defaults come first, then groups, then the recipe, then single values. Choices may be given by
number, true or false as True, False, 1 or 0, and several files as [a.h5,b.h5]. A setting given on
the command line that can have no effect is refused or noted.
)";

constexpr std::string_view kDocumentStart =
    R"(<!-- Written by `cosmictagger config --markdown`; a test
     compares. Change src/config, not this file. -->
# Configuration

Settings tell a run what to do, as in the Python original:

```sh
cosmictagger config mode=train network=a21 data=real run.id=01 data.data_directory=files/ --config-name a21
```

- **Groups** (`network=a21`) set many values at once; **keys** (`run.minibatch_size=8`) set one. If a key is given twice, the last one wins.
- **Recipes** are YAML files with groups and keys: one that comes with the program (`--config-name a21`) or your own (`--config-name my/recipe.yaml`,
  or `--config-dir my --config-name recipe`).
- Defaults come first, then groups, then the recipe, then single values. A group on the command line replaces the recipe's.
- An unknown key, a value of the wrong type and a value out of range are errors; nothing is guessed. A setting that has no
  effect in this command, on this machine or with the other settings is refused if it asks for something the run cannot do; otherwise a one-line
  note says so. This applies to the command line only, because a recipe may serve several commands and machines.
- Several files are a list, `data.file=[a.h5,b.h5]` or `data.file=a.h5,b.h5`, or a pattern, `data.file='runs/*.h5'` ([data](data.md#many-files)).
- Choices may be given by number, true and false as `True`, `False`, `1` or `0`. `hydra/...` and `hydra....` words are ignored, with a note.
- `cosmictagger config ...` prints the settings that a command line results in, `cosmictagger config --yaml ...` prints them as a recipe.

## Groups

| Group | Choices (the first is the default) | |
|---|---|---|
)";

constexpr std::string_view kKeysStart = R"(
## Keys

*Resume*: whether a run that resumes from a checkpoint may use a different value. No: its weights or the state of its optimizer would not fit. With a
warning: it continues, but its results differ from those of an uninterrupted run.

*Belongs to weights*: with another value, the same weights give other answers or do not fit. Such a setting comes from the checkpoint unless it is given;
one that is given and contradicts the checkpoint is refused, unless `mode.insist_on_settings=true` ([checkpoints](checkpoints.md#settings-that-belong-to-weights)).
)";

constexpr std::string_view kDocumentEnd = R"(
## What differs from the Python original

- `run.compute_mode` is `CPU` unless given (there: `GPU`), and the recipes do not choose a machine. A mode that is not available is an error; there is
  no fallback.
- `data.aux_file` is the validation set unless given (there: the test set, which should stay unseen).
- `framework` is `torch` unless given (there: `tensorflow`); it only affects the output path.
- Inference processes every event once unless `run.iterations` is given (there: 500 batches, whatever the size of the file).
- `data.data_directory` needs no trailing slash.
- `framework.seed` works (there it crashes), and seeds left at 0 are chosen once and saved with the run.
- `mode.start_index` works (there it is ignored).
- A final checkpoint is written unless `mode.final_checkpoint=false`; a run that is stopped by a signal or at `run.max_time` always writes one.
)";

}  // namespace

std::string help(std::optional<Mode> mode) {
  std::string text(kHowTo);
  text += "\nGroups, the default first:\n";
  for (const Group& group : groups()) {
    text += fmt::format("  {:<10} {}\n", group.name, joined(group.choices, " | "));
    text += wrapped(group.meaning, 6);
  }
  text += "\n" + wrapped("Recipes of the program: " + joined(built_in_recipes(), ", "), 0);
  for (const Section& section : kSections) {
    text += fmt::format("\n{}\n", section.title);
    for (const Key& key : schema()) {
      if (&section_of(key) == &section && (!mode || has_mode(key, *mode))) {
        text += help_of(key);
      }
    }
  }
  return text;
}

std::string short_help() {
  std::string text(kHowTo);
  text += "\nGroups:\n";
  for (const Group& group : groups()) {
    text += fmt::format("  {:<44}  {}\n", group.name + "=" + group.choices.front(),
                        joined(group.choices, " | "));
  }
  text += "\nThe keys that are used most; --help-all lists all of them:\n";
  for (const char* const name :
       {"run.id", "run.compute_mode", "run.iterations", "run.minibatch_size", "run.precision",
        "mode.weights_location", "mode.optimizer.learning_rate", "mode.optimizer.schedule",
        "data.data_directory", "data.file", "data.aux_file", "data.downsample", "output_dir"}) {
    text += help_of(require_key(name));
  }
  return text;
}

std::string markdown() {
  std::string text(kDocumentStart);
  for (const Group& group : groups()) {
    text += fmt::format("| `{}` | `{}` | {} |\n", group.name, joined(group.choices, "`, `"),
                        group.meaning);
  }
  text += "\n## Recipes of the program\n";
  for (const BuiltInRecipe& recipe : recipe_library()) {
    text += fmt::format("\n`{}`:\n\n```yaml\n{}```\n", recipe.name, recipe.text);
  }
  text += kKeysStart;
  for (const Section& section : kSections) {
    text += fmt::format(
        "\n### {}\n\n| Key | Type | Default | Meaning | Resume |\n|---|---|---|---|---|\n",
        section.title);
    for (const Key& key : schema()) {
      if (&section_of(key) == &section) {
        text += row(key);
      }
    }
  }
  return text + std::string(kDocumentEnd);
}

}  // namespace cosmic::config
