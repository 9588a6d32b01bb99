#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"
#include "core/yaml/yaml_tree.hpp"
#include "machine/family.hpp"

namespace cosmic::machine {
namespace {

using Names = std::vector<std::string_view>;

/// Costs may be nothing; formulas divide by counts and rates.
bool may_be_zero(Dimension dimension) {
  return dimension == Dimension::seconds || dimension == Dimension::cycles ||
         dimension == Dimension::bytes || dimension == Dimension::ratio;
}

/// Beyond what any machine has, in base units.
double most(Dimension dimension) {
  constexpr double kMostThings = 1e9;
  constexpr double kMost = 1e21;
  return dimension == Dimension::count ? kMostThings : kMost;
}

class Parser {
 public:
  Parser(const std::string& name, Families families) : name_(name), families_(families) {}

  Description read(const YamlNode& root) const {
    require_map(root, "a machine is described by a map");
    require_keys(root, {"name", "family", "about", "figures", "unknowns", "links"});
    Description machine;
    machine.name = word(root, "name", "the machine's name");
    machine.family = &family(root);
    machine.about = word(root, "about", "one line about it");
    const YamlNode& figures = section(root, "figures");
    const YamlNode& unknowns = section(root, "unknowns");
    require_names(figures, machine.family->figures(), *machine.family);
    require_names(unknowns, machine.family->unknowns(), *machine.family);
    for (const FigureRule& rule : machine.family->figures()) {
      machine.figures.push_back(
          figure(entry(figures, rule), rule, "value", {"value", "unit", "status", "source"}));
    }
    for (const FigureRule& rule : machine.family->unknowns()) {
      machine.unknowns.push_back(unknown(entry(unknowns, rule), rule));
    }
    if (const YamlNode* links = find(root, "links")) {
      read_links(*links, machine);
    }
    return machine;
  }

 private:
  [[noreturn]] void fail(const YamlNode& at, const std::string& message) const {
    throw UserError(name_ + ":" + std::to_string(at.line) + ": " + message);
  }

  void require_map(const YamlNode& node, const std::string& why) const {
    if (node.kind != YamlNode::Kind::map) {
      fail(node, "this must be a map of names and values (" + why + ")");
    }
  }

  /// The value of a key, or null.
  static const YamlNode* find(const YamlNode& map, std::string_view key) {
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
      if (map.items[i].text == key) {
        return &map.items[i + 1];
      }
    }
    return nullptr;
  }

  /// Every key is one of `known`, and none stands twice: the first would be taken.
  void require_keys(const YamlNode& map, const Names& known) const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < map.items.size(); i += 2) {
      const YamlNode& key = map.items[i];
      if (std::find(known.begin(), known.end(), key.text) == known.end()) {
        fail(key, "there is no '" + printable(key.text) + "' in a description (did you mean '" +
                      std::string(nearest_name(key.text, known)) + "'?)");
      }
      if (!seen.insert(key.text).second) {
        fail(key, "'" + key.text + "' appears twice; keep one");
      }
    }
  }

  void require_names(const YamlNode& map, std::span<const FigureRule> rules,
                     const Family& family) const {
    Names known;
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

  const YamlNode& section(const YamlNode& root, const std::string& key) const {
    const YamlNode* node = find(root, key);
    if (node == nullptr) {
      fail(root, "'" + key + "' is missing (the formulas need them); add it");
    }
    require_map(*node, "name: {value: ..., unit: ..., status: ..., source: ...}");
    return *node;
  }

  std::string word(const YamlNode& map, const std::string& key, const std::string& meaning) const {
    const YamlNode* node = find(map, key);
    if (node == nullptr || node->kind != YamlNode::Kind::word || node->text.empty()) {
      fail(map, "'" + key + "' is missing: " + meaning);
    }
    return node->text;
  }

  Status status(const YamlNode& map) const {
    const std::string text = word(map, "status", "how reliable it is");
    std::string names;
    for (const Status status :
         {Status::published, Status::derived, Status::calibrated, Status::assumed}) {
      if (to_string(status) == text) {
        return status;
      }
      names += (names.empty() ? "" : ", ") + to_string(status);
    }
    fail(map, "status is '" + printable(text) + "'; it must be one of: " + names);
  }

  const Family& family(const YamlNode& root) const {
    const std::string text = word(root, "family", "whose formulas apply to it");
    std::string names;
    for (const Family* known : families_) {
      if (known->name() == text) {
        return *known;
      }
      names += (names.empty() ? "" : ", ") + std::string(known->name());
    }
    fail(root, "family is '" + printable(text) + "'; it must be one of: " + names);
  }

  const YamlNode& entry(const YamlNode& map, const FigureRule& rule) const {
    const YamlNode* node = find(map, rule.name);
    if (node == nullptr) {
      fail(map, "'" + std::string(rule.name) + "' is missing: " + std::string(rule.meaning) +
                    " (in one of: " + units_of(rule.dimension) + "); add it with its source");
    }
    return *node;
  }

  double number(const YamlNode& map, const std::string& key, const FigureRule& rule,
                double scale) const {
    const YamlNode* node = find(map, key);
    const std::string text =
        node != nullptr && node->kind == YamlNode::Kind::word ? node->text : std::string();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail(map, "'" + std::string(rule.name) + "' has no number '" + key +
                    "': " + std::string(rule.meaning));
    }
    const bool divides = !may_be_zero(rule.dimension);
    if (!(value >= 0) || value * scale > most(rule.dimension) || (divides && value == 0)) {
      fail(map, "'" + std::string(rule.name) + "' is " + text + " (out of range); give a " +
                    (divides ? "positive number" : "number that is not negative"));
    }
    return value * scale;
  }

  double scale(const YamlNode& map, const FigureRule& rule) const {
    const std::string unit = word(map, "unit", "what the number counts");
    try {
      return scale_of(unit, rule.dimension);
    } catch (const UserError& error) {
      fail(map, "'" + std::string(rule.name) + "': " + error.what());
    }
  }

  Figure figure(const YamlNode& map, const FigureRule& rule, const std::string& value_key,
                const Names& keys) const {
    require_map(map, "a figure has a value, a unit, a status and a source");
    require_keys(map, keys);
    Figure figure;
    figure.name = rule.name;
    figure.unit = word(map, "unit", "what the number counts");
    figure.unit_scale = scale(map, rule);
    figure.value = number(map, value_key, rule, figure.unit_scale);
    figure.status = status(map);
    figure.source = word(map, "source", "where the figure comes from");
    return figure;
  }

  Unknown unknown(const YamlNode& map, const FigureRule& rule) const {
    Unknown unknown{
        figure(map, rule, "default", {"default", "low", "high", "unit", "status", "source"}),
        number(map, "low", rule, scale(map, rule)), number(map, "high", rule, scale(map, rule))};
    if (unknown.low > unknown.figure.value || unknown.high < unknown.figure.value) {
      fail(map, "the default of '" + std::string(rule.name) +
                    "' is not between low and high (they are the error bar around it)");
    }
    return unknown;
  }

  void read_links(const YamlNode& links, Description& machine) const {
    if (links.kind != YamlNode::Kind::list) {
      fail(links, "'links' must be a list, nearest first; start each link with '-'");
    }
    for (const YamlNode& node : links.items) {
      require_map(node, "a link has a name, a bandwidth and a hop_time");
      require_keys(node, {"name", "joins", "bandwidth", "hop_time"});
      Link link;
      link.name = word(node, "name", "the name of the link");
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
  std::optional<int> joins(const YamlNode& link, const std::vector<Link>& nearer) const {
    if (!nearer.empty() && !nearer.back().joins) {
      fail(link,
           "the previous link joins any number of machines (so this one would never be used); give "
           "the previous link a 'joins'");
    }
    const YamlNode* node = find(link, "joins");
    if (node == nullptr) {
      return std::nullopt;
    }
    const int least = nearer.empty() ? 1 : *nearer.back().joins;
    int machines = 0;
    const char* const end = node->text.data() + node->text.size();
    const auto [stop, error] = std::from_chars(node->text.data(), end, machines);
    if (error != std::errc() || stop != end) {
      fail(link, "'joins' must be a whole number: how many machines the link joins");
    }
    if (machines <= least) {
      fail(link,
           "'joins' is " + std::to_string(machines) + " (" + std::to_string(least) +
               " are already joined without this link); give more, or leave it out for any number");
    }
    return machines;
  }

  const YamlNode& child(const YamlNode& map, const std::string& key) const {
    const YamlNode* node = find(map, key);
    if (node == nullptr) {
      fail(map, "'" + key + "' of the link is missing; add it with its source");
    }
    return *node;
  }

  const std::string& name_;
  Families families_;
};

}  // namespace

Description parse_description(std::string_view text, const std::string& name, Families families) {
  return Parser(name, families).read(parse_yaml(text, name));
}

}  // namespace cosmic::machine
