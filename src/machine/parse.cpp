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
    require_keys(
        root, {"name", "family", "about", "judged_with", "figures", "unknowns", "links", "stacks"});
    Description machine;
    machine.name = word(root, "name", "the machine's name");
    machine.family = &family(root);
    machine.about = word(root, "about", "one line about it");
    machine.judged_with = find(root, "judged_with") != nullptr
                              ? word(root, "judged_with", "whose past errors count for it")
                              : std::string(machine.family->name());
    const YamlNode& figures = section(root, "figures");
    const YamlNode& unknowns = section(root, "unknowns");
    require_names(figures, machine.family->figures(), *machine.family);
    require_names(unknowns, machine.family->unknowns(), *machine.family);
    for (const FigureRule& rule : machine.family->figures()) {
      read_figure(entry(figures, rule), rule, machine);
    }
    for (const FigureRule& rule : machine.family->unknowns()) {
      machine.unknowns.push_back(unknown(entry(unknowns, rule), rule));
    }
    if (const YamlNode* links = find(root, "links")) {
      read_links(*links, machine);
    }
    machine.without_stack = machine.unknowns;
    if (const YamlNode* stacks = find(root, "stacks")) {
      read_stacks(*stacks, machine);
    } else {
      machine.stacks.emplace_back();
    }
    return with_stack(machine, std::string(machine.stack().name));
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
    figure.fitted_to = fitted_to(map);
    if (figure.status == Status::calibrated && figure.fitted_to.empty()) {
      fail(map, "'" + figure.name +
                    "' is calibrated, but not said to what (what a figure was fitted to cannot "
                    "judge it); add fitted_to: [ROW, ...]");
    }
    return figure;
  }

  std::vector<std::string> fitted_to(const YamlNode& map) const {
    std::vector<std::string> rows;
    if (const YamlNode* node = find(map, "fitted_to")) {
      if (node->kind != YamlNode::Kind::list) {
        fail(*node, "'fitted_to' must be a list of rows: [ROW, ...]");
      }
      for (const YamlNode& row : node->items) {
        rows.push_back(row.text);
      }
    }
    return rows;
  }

  /// One that nobody published has a range, and is an unknown.
  void read_figure(const YamlNode& map, const FigureRule& rule, Description& machine) const {
    if (find(map, "low") != nullptr || find(map, "high") != nullptr) {
      machine.unknowns.push_back(unknown(map, rule, "value"));
      return;
    }
    Figure known = figure(map, rule, "value", {"value", "unit", "status", "source", "fitted_to"});
    if (known.status == Status::assumed || known.status == Status::calibrated) {
      fail(map, "'" + known.name + "' is " + to_string(known.status) +
                    " and has no range (what nobody published is part of the error bar); add low "
                    "and high");
    }
    machine.figures.push_back(std::move(known));
  }

  Unknown unknown(const YamlNode& map, const FigureRule& rule,
                  const std::string& value_key = "default") const {
    Unknown unknown{figure(map, rule, value_key,
                           {value_key, "low", "high", "unit", "status", "source", "fitted_to"}),
                    number(map, "low", rule, scale(map, rule)),
                    number(map, "high", rule, scale(map, rule))};
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
      require_keys(node, {"name", "joins", "bandwidth", "hop_time", "exchange", "announced_above"});
      Link link;
      link.name = word(node, "name", "the name of the link");
      link.joins = joins(node, machine.links);
      const std::string bandwidth = link.name + "_bandwidth";
      link.hop_time = link.name + "_hop_time";
      const FigureRule rule{bandwidth, Dimension::bytes_per_second, "of one machine, each way"};
      const std::size_t unknowns = machine.unknowns.size();
      const std::size_t figures = machine.figures.size();
      read_figure(child(node, "bandwidth"), rule, machine);
      if (machine.unknowns.size() > unknowns) {
        link.bandwidth = machine.unknowns.back().figure;
      } else {
        link.bandwidth = machine.figures.back();
        machine.figures.resize(figures);
      }
      machine.unknowns.push_back(
          unknown(child(node, "hop_time"),
                  {link.hop_time, Dimension::seconds, "each message, beside its bytes"}));
      if (find(node, "exchange") != nullptr) {
        link.exchange = one_of(node, "exchange", {Exchange::ring, Exchange::direct});
      }
      if (const YamlNode* announced = find(node, "announced_above")) {
        if (link.exchange != Exchange::direct) {
          fail(*announced,
               "'announced_above' of a link with exchange: ring (the cost of its messages is the "
               "hop time alone); leave it out, or give the link exchange: direct");
        }
        link.announced_above =
            figure(*announced, {"announced_above", Dimension::bytes, "of a message"}, "value",
                   {"value", "unit", "status", "source"});
      }
      machine.links.push_back(link);
    }
  }

  void read_stacks(const YamlNode& stacks, Description& machine) const {
    if (stacks.kind != YamlNode::Kind::list || stacks.items.empty()) {
      fail(stacks, "'stacks' must be a list, the default first; start each stack with '-'");
    }
    for (const YamlNode& node : stacks.items) {
      require_map(node, "a stack has a name and says what it stores and how it launches");
      require_keys(node, {"name", "about", "stored", "launching", "weights", "input", "status",
                          "source", "figures"});
      Stack stack;
      stack.name = word(node, "name", "the name of the stack, for explain --stack");
      stack.about = word(node, "about", "one line about it");
      stack.stored = one_of(node, "stored", {Stored::every_op, Stored::in_place, Stored::fused});
      stack.launching = one_of(node, "launching", {Launching::whole_program, Launching::per_op});
      if (find(node, "weights") != nullptr) {
        stack.weights = one_of(node, "weights", {StackWeights::as_set, StackWeights::narrow});
      }
      if (find(node, "input") != nullptr) {
        stack.input = one_of(node, "input", {StackInput::prefetched, StackInput::waited});
      }
      stack.status = status(node);
      stack.source = word(node, "source", "where it is known from");
      if (const YamlNode* figures = find(node, "figures")) {
        require_map(*figures, "figures that hold with this stack");
        read_figures_of_stack(*figures, machine, stack);
      }
      machine.stacks.push_back(std::move(stack));
    }
  }

  void read_figures_of_stack(const YamlNode& figures, const Description& machine,
                             Stack& stack) const {
    Names names;
    std::vector<FigureRule> rules;
    for (const auto& known : {machine.family->figures(), machine.family->unknowns()}) {
      for (const FigureRule& rule : known) {
        const bool ranged =
            std::any_of(machine.unknowns.begin(), machine.unknowns.end(),
                        [&](const Unknown& u) { return u.figure.name == rule.name; });
        if (ranged) {
          names.push_back(rule.name);
          rules.push_back(rule);
        }
      }
    }
    require_keys(figures, names);
    for (std::size_t i = 0; i + 1 < figures.items.size(); i += 2) {
      for (const FigureRule& rule : rules) {
        if (rule.name == figures.items[i].text) {
          stack.figures.push_back(unknown(figures.items[i + 1], rule));
        }
      }
    }
  }

  template <class Choice>
  Choice one_of(const YamlNode& map, const std::string& key,
                std::initializer_list<Choice> choices) const {
    const std::string text = word(map, key, "how programs are run");
    std::string names;
    for (const Choice choice : choices) {
      if (to_string(choice) == text) {
        return choice;
      }
      names += (names.empty() ? "" : ", ") + to_string(choice);
    }
    fail(map, "'" + key + "' is " + printable(text) + "; it must be one of: " + names);
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
