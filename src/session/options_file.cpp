#include "session/options_file.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"
#include "core/regular_file.hpp"
#include "core/yaml/yaml_tree.hpp"
#include "session/option_words.hpp"

namespace cosmic::session {
namespace {

/// One option: how it is written, and how it is read back. Reading throws UserError without the
/// place, which the caller knows.
struct Key {
  std::string_view name;
  std::function<std::string(const Options&)> write;
  std::function<void(Options&, const YamlNode&)> read;
};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
    }
    result += letter;
  }
  return result + '"';
}

const std::string& word(const YamlNode& node, const char* what) {
  COSMIC_REQUIRE(UserError, node.kind == YamlNode::Kind::word,
                 "does not have a single value (it takes " << what << "); write one");
  return node.text;
}

// A value's kind is its C++ type; each has a way to be written and a way to be read.

template <class Number>
requires std::integral<Number> &&(!std::same_as<Number, bool>)std::string written(Number value) {
  return std::to_string(value);
}
std::string written(double value) {
  std::array<char, 32> text{};  // the longest shortest double has 24 characters
  return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}
std::string written(bool value) {
  return value ? "true" : "false";
}
std::string written(const std::string& value) {
  return quoted(value);
}
std::string written(const std::filesystem::path& value) {
  return quoted(value.string());
}
template <model::TextEnum Enum>
std::string written(Enum value) {
  return model::to_string(value);
}
template <class List>
requires requires(const List& list) {
  typename List::value_type;
  list.begin();
} &&(!std::same_as<List, std::string> && !std::same_as<List, std::filesystem::path>)std::string
    written(const List& list) {
  std::string text;
  for (const auto& item : list) {
    text += (text.empty() ? "" : ", ") + written(item);
  }
  return "[" + text + "]";
}

template <class Number>
requires std::integral<Number> &&
    (!std::same_as<Number, bool>)void read_value(const YamlNode& node, Number& value) {
  const std::string& text = word(node, "a whole number");
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  COSMIC_REQUIRE(UserError, problem == std::errc() && stop == end,
                 "is " << printable(text) << " (it takes a whole number within range); write one");
}
void read_value(const YamlNode& node, double& value) {
  const std::string& text = word(node, "a number");
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  COSMIC_REQUIRE(UserError, problem == std::errc() && stop == end,
                 "is " << printable(text) << " (it takes a number); write one such as 0.999");
}
void read_value(const YamlNode& node, bool& value) {
  const std::string& text = word(node, "true or false");
  COSMIC_REQUIRE(UserError, text == "true" || text == "false",
                 "is " << printable(text) << " (it is true or false); write one of the two");
  value = text == "true";
}
void read_value(const YamlNode& node, std::string& value) {
  value = word(node, "a word");
}
void read_value(const YamlNode& node, std::filesystem::path& value) {
  value = word(node, "a path");
}
template <model::TextEnum Enum>
void read_value(const YamlNode& node, Enum& value) {
  value = model::parse_enum<Enum>(word(node, "one word of a few"));
}
template <class List>
requires requires(List& list) {
  typename List::value_type;
  list.clear();
} &&(!std::same_as<List, std::string> &&
     !std::same_as<List, std::filesystem::path>)void read_value(const YamlNode& node, List& list) {
  COSMIC_REQUIRE(UserError, node.kind == YamlNode::Kind::list,
                 "is not a list; write [first, second]");
  list.clear();
  for (const YamlNode& item : node.items) {
    typename List::value_type value{};
    read_value(item, value);
    list.insert(list.end(), std::move(value));
  }
}

/// `of` gives the option's place in Options, constant or not.
template <class Access>
Key key(std::string_view name, Access of) {
  return {name, [of](const Options& options) { return written(of(options)); },
          [of](Options& options, const YamlNode& node) { read_value(node, of(options)); }};
}

template <class Member>
Key key(std::string_view name, Member Options::*member) {
  return key(
      name, [member](auto& options) -> auto& { return options.*member; });
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      key("target", &Options::target),
      key("machine", &Options::machine),
      key("device", &Options::device),
      key("threads", &Options::threads),
      key("seed", &Options::seed),
      key("device_iterations", &Options::device_iterations),
      key("replication_factor", &Options::replication_factor),
      key("exchange", &Options::exchange),
      key("replica_reduction", &Options::replica_reduction),
      key("exchange_precision", &Options::exchange_format),
      key("replica_statistics", &Options::replica_statistics),
      key("gradient_accumulation", &Options::gradient_accumulation),
      key("accumulation_reduction", &Options::accumulation_reduction),
      key("output_mode", &Options::output_mode),
      key("output_every", &Options::output_every),
      key(
          "output_logits", [](auto& options) -> auto& { return options.outputs.logits; }),
      key(
          "output_gradients", [](auto& options) -> auto& { return options.outputs.gradients; }),
      key(
          "precision", [](auto& options) -> auto& { return options.precision.format; }),
      key(
          "weights", [](auto& options) -> auto& { return options.precision.weights; }),
      key(
          "rounding", [](auto& options) -> auto& { return options.precision.rounding; }),
      key(
          "partials", [](auto& options) -> auto& { return options.precision.partials; }),
      key(
          "loss_scaling",
          [](auto& options) -> auto& { return options.precision.loss_scaling.kind; }),
      key(
          "initial_loss_scale",
          [](auto& options) -> auto& { return options.precision.loss_scaling.initial; }),
      key(
          "loss_scale_growth_interval",
          [](auto& options) -> auto& { return options.precision.loss_scaling.growth_interval; }),
      key(
          "tf32", [](auto& options) -> auto& { return options.precision.tf32; }),
      key("anchors", &Options::anchors),
      key("execution_strategy", &Options::execution_strategy),
      key(
          "stages", [](auto& options) -> auto& { return options.stages.blocks; }),
      key(
          "automatic_stages", [](auto& options) -> auto& { return options.stages.automatic; }),
      key("launching", &Options::launching),
      key("sections", &Options::sections),
      key("recomputation_checkpoints", &Options::recomputation_checkpoints),
      key("recompute", &Options::recompute),
      key("variable_optimizer", &Options::variable_optimizer),
      key("weights_average", &Options::weights_average),
      key("averaged_weights", &Options::averaged_weights),
      key("synthetic_data", &Options::synthetic_data),
      key("offline_compile", &Options::offline_compile),
      key("disabled_passes", &Options::disabled_passes),
      key("executable", &Options::executable),
      key("executable_cache", &Options::executable_cache),
      key("executable_cache_bytes", &Options::executable_cache_bytes),
  };
  return all;
}

const Key* find_key(std::string_view name) {
  for (const Key& known : keys()) {
    if (known.name == name) {
      return &known;
    }
  }
  return nullptr;
}

/// Reads the value of one key; what it throws begins with the place.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Options read(const YamlNode& document) {
    if (document.kind == YamlNode::Kind::nothing) {
      return {};
    }
    require(document, document.kind == YamlNode::Kind::map,
            "options are a list of 'name: value' lines");
    for (std::size_t i = 0; i < document.items.size(); i += 2) {
      read_entry(document.items[i], document.items[i + 1]);
    }
    return std::move(options_);
  }

 private:
  void read_entry(const YamlNode& name, const YamlNode& value) {
    require(name, name.kind == YamlNode::Kind::word, "the name of an option is a word");
    const Key* const known = find_key(name.text);
    if (known == nullptr) {
      const std::vector<std::string_view> names = option_names();
      require(name, false,
              "unknown option " + printable(name.text) + "; did you mean '" +
                  std::string(nearest_name(name.text, names)) + "'?");
    }
    require(name, seen_.insert(known->name).second,
            "option '" + name.text + "' is given twice; leave one out");
    try {
      known->read(options_, value);
    } catch (const UserError& error) {
      require(value, false, name.text + ": " + error.what());
    }
  }

  void require(const YamlNode& at, bool condition, const std::string& message) const {
    COSMIC_REQUIRE(UserError, condition, name_ << ":" << at.line << ": " << message);
  }

  const std::string& name_;
  Options options_;
  std::set<std::string_view> seen_;
};

}  // namespace

std::string to_yaml(const Options& options) {
  std::string text;
  for (const Key& known : keys()) {
    text += std::string(known.name) + ": " + known.write(options) + "\n";
  }
  return text;
}

Options options_from_yaml(std::string_view text, const std::string& name) {
  return Reader(name).read(parse_yaml(text, name));
}

Options load_options(const std::filesystem::path& path) {
  constexpr std::uintmax_t kLongest = 1 << 20;  // no person writes that much
  std::error_code unknown;
  const bool short_enough = std::filesystem::file_size(regular_file(path), unknown) <= kLongest;
  std::ifstream file(path, std::ios::binary);
  COSMIC_REQUIRE(UserError, short_enough && file.good(),
                 path.string() << ": cannot be read (options are a YAML file of at most "
                               << kLongest << " bytes); is the path right?");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return options_from_yaml(text, path.string());
}

std::vector<std::string_view> option_names() {
  std::vector<std::string_view> names;
  for (const Key& known : keys()) {
    names.push_back(known.name);
  }
  return names;
}

}  // namespace cosmic::session
