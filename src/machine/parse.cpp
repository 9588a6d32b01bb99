#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"
#include "machine/family.hpp"

namespace cosmic::machine {
namespace {

class Parser {
 public:
  Parser(const std::string& name, Families families) : name_(name), families_(families) {}

  Description read(const YAML::Node& root) const {
    require_map(root, "a machine is described by a map");
    require_keys(root, {"name", "family", "about", "figures", "unknowns", "links"});
    Description machine;
    machine.name = word(root, "name", "the machine's name");
    machine.family = &family(root);
    machine.about = word(root, "about", "one line about it");
    const YAML::Node figures = section(root, "figures");
    const YAML::Node unknowns = section(root, "unknowns");
    require_names(figures, machine.family->figures(), *machine.family);
    require_names(unknowns, machine.family->unknowns(), *machine.family);
    for (const FigureRule& rule : machine.family->figures()) {
      machine.figures.push_back(
          figure(entry(figures, rule), rule, "value", {"value", "unit", "status", "source"}));
    }
    for (const FigureRule& rule : machine.family->unknowns()) {
      machine.unknowns.push_back(unknown(entry(unknowns, rule), rule));
    }
    read_links(root["links"], machine);
    return machine;
  }

 private:
  [[noreturn]] void fail(const YAML::Node& at, const std::string& message) const {
    throw UserError(name_ + ":" + std::to_string(at.Mark().line + 1) + ": " + message);
  }

  void require_map(const YAML::Node& node, const std::string& why) const {
    if (!node.IsMap()) {
      fail(node, "this is not a map of names and values (" + why + ")");
    }
  }

  /// Every key is one of `known`, and none stands twice: yaml-cpp would take the first.
  void require_keys(const YAML::Node& map, const std::vector<std::string_view>& known) const {
    std::set<std::string> seen;
    for (const auto& item : map) {
      const std::string key = item.first.IsScalar() ? item.first.Scalar() : "";
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        fail(item.first, "there is no '" + printable(key) + "' in a description (did you mean '" +
                             std::string(nearest_name(key, known)) + "'?)");
      }
      if (!seen.insert(key).second) {
        fail(item.first, "'" + key + "' stands here a second time; keep one");
      }
    }
  }

  void require_names(const YAML::Node& map, std::span<const FigureRule> rules,
                     const Family& family) const {
    std::vector<std::string_view> known;
    for (const FigureRule& rule : rules) {
      known.push_back(rule.name);
    }
    try {
      require_keys(map, known);
    } catch (const UserError& error) {
      throw UserError(std::string(error.what()) + " (a machine of the family " +
                      std::string(family.name()) + ")");
    }
  }

  YAML::Node section(const YAML::Node& root, const char* key) const {
    const YAML::Node node = root[key];
    if (!node) {
      fail(root, std::string("'") + key + "' is missing (the formulas need them); add it");
    }
    require_map(node, "name: {value: ..., unit: ..., status: ..., source: ...}");
    return node;
  }

  std::string word(const YAML::Node& map, const char* key, const std::string& meaning) const {
    const YAML::Node node = map[key];
    if (!node || !node.IsScalar() || node.Scalar().empty()) {
      fail(map, std::string("'") + key + "' is missing: " + meaning);
    }
    return node.Scalar();
  }

  template <class Enum>
  Enum choice(const YAML::Node& at, const std::string& text, const std::string& what,
              std::initializer_list<Enum> all) const {
    std::string names;
    for (const Enum value : all) {
      if (to_string(value) == text) {
        return value;
      }
      names += (names.empty() ? "" : ", ") + to_string(value);
    }
    fail(at, what + " is '" + printable(text) + "'; it must be one of: " + names);
  }

  const Family& family(const YAML::Node& root) const {
    const std::string text = word(root, "family", "the formulas that hold for it");
    std::string names;
    for (const Family* known : families_) {
      if (known->name() == text) {
        return *known;
      }
      names += (names.empty() ? "" : ", ") + std::string(known->name());
    }
    fail(root["family"], "family is '" + printable(text) + "'; it must be one of: " + names);
  }

  YAML::Node entry(const YAML::Node& map, const FigureRule& rule) const {
    const YAML::Node node = map[std::string(rule.name)];
    if (!node) {
      fail(map, "'" + std::string(rule.name) + "' is missing: " + std::string(rule.meaning) +
                    " (in one of: " + units_of(rule.dimension) + "); add it with its source");
    }
    return node;
  }

  double number(const YAML::Node& map, const char* key, const FigureRule& rule,
                double scale) const {
    double value = 0;
    try {
      value = map[key].as<double>();
    } catch (const YAML::Exception&) {
      fail(map, "'" + std::string(rule.name) + "' has no number '" + key +
                    "': " + std::string(rule.meaning));
    }
    if (!std::isfinite(value) || value < 0) {
      fail(map, "'" + std::string(rule.name) + "' is " + map[key].Scalar() +
                    " (no machine has that); give a number that is not negative");
    }
    return value * scale;
  }

  double scale(const YAML::Node& map, const FigureRule& rule) const {
    try {
      return scale_of(word(map, "unit", "what the number counts"), rule.dimension);
    } catch (const UserError& error) {
      const std::string text = error.what();
      if (text.starts_with(name_)) {
        throw;
      }
      fail(map, "'" + std::string(rule.name) + "': " + text);
    }
  }

  Figure figure(const YAML::Node& map, const FigureRule& rule, const char* value_key,
                const std::vector<std::string_view>& keys) const {
    require_map(map, "a figure has a value, a unit, a status and a source");
    require_keys(map, keys);
    Figure figure;
    figure.name = rule.name;
    figure.unit = word(map, "unit", "what the number counts");
    figure.unit_scale = scale(map, rule);
    figure.value = number(map, value_key, rule, figure.unit_scale);
    figure.status =
        choice(map, word(map, "status", "how well it is known"), "status",
               {Status::published, Status::derived, Status::calibrated, Status::assumed});
    figure.source = word(map, "source", "who says so");
    return figure;
  }

  Unknown unknown(const YAML::Node& map, const FigureRule& rule) const {
    Unknown unknown{
        figure(map, rule, "default", {"default", "low", "high", "unit", "status", "source"}),
        number(map, "low", rule, scale(map, rule)), number(map, "high", rule, scale(map, rule))};
    if (unknown.low > unknown.figure.value || unknown.high < unknown.figure.value) {
      fail(map, "the default of '" + std::string(rule.name) +
                    "' is not between low and high (they are the error bar around it)");
    }
    return unknown;
  }

  void read_links(const YAML::Node& links, Description& machine) const {
    if (!links) {
      return;
    }
    if (!links.IsSequence()) {
      fail(links, "'links' is not a list (from the nearest to the farthest); begin each with '-'");
    }
    for (const YAML::Node& node : links) {
      require_map(node, "a link has a name, a bandwidth and a hop_time");
      require_keys(node, {"name", "joins", "bandwidth", "hop_time"});
      Link link;
      link.name = word(node, "name", "what people call it");
      link.joins = joins(node, machine.links);
      const std::string bandwidth = link.name + "_bandwidth";
      link.hop_time = link.name + "_hop_time";
      link.bandwidth = figure(child(node, "bandwidth"),
                              {bandwidth, Dimension::bytes_per_second, "of one machine, each way"},
                              "value", {"value", "unit", "status", "source"});
      machine.unknowns.push_back(
          unknown(child(node, "hop_time"),
                  {link.hop_time, Dimension::seconds, "each step of a ring, beside its bytes"}));
      machine.links.push_back(link);
    }
  }

  /// More machines than the link before; the last may join any number.
  std::optional<int> joins(const YAML::Node& link, const std::vector<Link>& nearer) const {
    if (!nearer.empty() && !nearer.back().joins) {
      fail(link,
           "the link before this one joins any number of machines (so nothing is left for "
           "this one); give the one before a 'joins'");
    }
    if (!link["joins"]) {
      return std::nullopt;
    }
    const int least = nearer.empty() ? 1 : *nearer.back().joins;
    int machines = 0;
    try {
      machines = link["joins"].as<int>();
    } catch (const YAML::Exception&) {
      fail(link, "'joins' is no whole number: how many machines the link joins");
    }
    if (machines <= least) {
      fail(link, "'joins' is " + std::to_string(machines) + " (" + std::to_string(least) +
                     " are joined without this link); give more, or leave it out for any number");
    }
    return machines;
  }

  YAML::Node child(const YAML::Node& map, const char* key) const {
    const YAML::Node node = map[key];
    if (!node) {
      fail(map, std::string("'") + key + "' of the link is missing; add it with its source");
    }
    return node;
  }

  const std::string& name_;
  Families families_;
};

}  // namespace

Description parse_description(std::string_view text, const std::string& name, Families families) {
  try {
    return Parser(name, families).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    throw UserError(name + ":" + std::to_string(error.mark.line + 1) +
                    ": this is not YAML: " + printable(error.msg));
  }
}

}  // namespace cosmic::machine
