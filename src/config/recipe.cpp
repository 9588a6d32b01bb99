#include "config/recipe.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "config/schema.hpp"
#include "config/utf8.hpp"
#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"
#include "core/yaml/yaml_tree.hpp"

namespace cosmic::config {
namespace {

class RecipeReader {
 public:
  explicit RecipeReader(const RecipeText& recipe) : recipe_(recipe) {}

  Given read() {
    COSMIC_REQUIRE(UserError, recipe_.text.size() <= kLongestRecipe,
                   recipe_.name << " has more than " << kLongestRecipe
                                << " bytes (a recipe is a short list of settings); is it the right "
                                << "file?");
    COSMIC_REQUIRE(UserError, is_utf8(recipe_.text) && recipe_.text.find('\0') == std::string::npos,
                   recipe_.name << " is not text in UTF-8 (a recipe is a YAML file); is it the "
                                << "right file?");
    const YamlNode document = parse_yaml(recipe_.text, recipe_.name);
    if (document.kind != YamlNode::Kind::nothing) {
      read_section(document, "");
    }
    return std::move(given_);
  }

 private:
  void read_section(const YamlNode& section, const std::string& prefix) {
    require(section, section.kind == YamlNode::Kind::map,
            prefix.empty() ? "a recipe is a list of 'key: value' lines"
                           : "'" + prefix + "' is a section and holds 'key: value' lines");
    for (std::size_t i = 0; i < section.items.size(); i += 2) {
      const YamlNode& key = section.items[i];
      require(key, key.kind == YamlNode::Kind::word, "a key is a word");
      read_entry(prefix.empty() ? key.text : prefix + "." + key.text, key, section.items[i + 1]);
    }
  }

  void read_entry(const std::string& name, const YamlNode& at, const YamlNode& value) {
    const bool word = value.kind == YamlNode::Kind::word;
    const Key* const key = find_key(name);
    const bool nothing = value.kind == YamlNode::Kind::nothing;
    if (name == "defaults") {
      read_defaults(value);
    } else if (name == "hydra" || name == "framework.environment_variables") {
      given_.note(
          fmt::format("{}:{}: '{}' is not used by this program", recipe_.name, at.line, name));
    } else if (key != nullptr && key->kind == ValueKind::texts && is_list_of_words(value)) {
      add(name, at, text_of(value));
    } else if (key != nullptr || (find_group(name) != nullptr && word)) {
      require(at, word,
              "'" + name + "' has " + (nothing ? "no value" : "several values") +
                  " (it takes one); write '" + name + ": value'");
      add(name, at, value.text);
    } else if (!is_section(name)) {
      add(name, at, "");  // says what the nearest key is
    } else if (!nothing) {
      read_section(value, name);
    }
  }

  static bool is_list_of_words(const YamlNode& node) {
    return node.kind == YamlNode::Kind::list &&
           std::all_of(node.items.begin(), node.items.end(),
                       [](const YamlNode& item) { return item.kind == YamlNode::Kind::word; });
  }

  /// As a command line would give it.
  static std::string text_of(const YamlNode& list) {
    std::vector<std::string> texts;
    for (const YamlNode& item : list.items) {
      texts.push_back(item.text);
    }
    return to_text(texts);
  }

  /// `- override network: a21`, `- network: a21`, and the two words that stand for the settings of
  /// the program and of this file in the reference's recipes.
  void read_defaults(const YamlNode& list) {
    require(list, list.kind == YamlNode::Kind::list,
            "'defaults' is a list of '- group: choice' lines");
    for (const YamlNode& item : list.items) {
      if (item.kind == YamlNode::Kind::word) {
        require(item, item.text == "base_config" || item.text == "_self_",
                printable(item.text) +
                    " in the list of defaults (a recipe cannot build on another one); write "
                    "'- group: choice'");
        continue;
      }
      require(item,
              item.kind == YamlNode::Kind::map && item.items.size() == 2 &&
                  item.items[0].kind == YamlNode::Kind::word &&
                  item.items[1].kind == YamlNode::Kind::word,
              "an item of 'defaults' is '- group: choice'");
      std::string group = item.items[0].text;
      constexpr std::string_view kOverride = "override ";
      if (group.starts_with(kOverride)) {
        group.erase(0, kOverride.size());
      }
      require_group(item, group);
      add(group, item, item.items[1].text);
    }
  }

  void require_group(const YamlNode& at, const std::string& name) const {
    std::vector<std::string_view> names;
    for (const Group& group : groups()) {
      names.emplace_back(group.name);
    }
    require(at, find_group(name) != nullptr,
            "unknown group " + printable(name) + "; did you mean '" +
                std::string(nearest_name(name, names)) + "'?");
  }

  void add(const std::string& name, const YamlNode& at, const std::string& text) {
    try {
      given_.add(name, text);
    } catch (const UserError& error) {
      require(at, false, error.what());
    }
  }

  void require(const YamlNode& at, bool condition, const std::string& message) const {
    COSMIC_REQUIRE(UserError, condition, recipe_.name << ":" << at.line << ": " << message);
  }

  const RecipeText& recipe_;
  Given given_{Repeats::refused};
};

}  // namespace

Given read_recipe(const RecipeText& recipe) {
  return RecipeReader(recipe).read();
}

}  // namespace cosmic::config
