#include "machine/write_description.hpp"

#include <fmt/core.h>

#include "machine/family.hpp"

namespace cosmic::machine {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return result + "\"";
}

std::string number(const Figure& figure, double value) {
  return fmt::format("{:.6g}", value / figure.unit_scale);
}

std::string facts_of(const Figure& figure) {
  std::string text = fmt::format("unit: {}, status: {}", figure.unit, to_string(figure.status));
  if (!figure.fitted_to.empty()) {
    text += ", fitted_to: [";
    for (std::size_t i = 0; i < figure.fitted_to.size(); ++i) {
      text += (i == 0 ? "" : ", ") + quoted(figure.fitted_to[i]);
    }
    text += "]";
  }
  return text + ", source: " + quoted(figure.source);
}

std::string figure_text(const Figure& figure) {
  return fmt::format("{{value: {}, {}}}", number(figure, figure.value), facts_of(figure));
}

std::string unknown_text(const Unknown& unknown, const char* key) {
  const Figure& figure = unknown.figure;
  return fmt::format("{{{}: {}, low: {}, high: {}, {}}}", key, number(figure, figure.value),
                     number(figure, unknown.low), number(figure, unknown.high), facts_of(figure));
}

/// With a range if it has one.
std::string text_of(const Description& machine, std::string_view name, const char* key) {
  for (const Unknown& unknown : machine.unknowns) {
    if (unknown.figure.name == name) {
      return unknown_text(unknown, key);
    }
  }
  for (const Figure& figure : machine.figures) {
    if (figure.name == name) {
      return figure_text(figure);
    }
  }
  return "";
}

}  // namespace

std::string to_yaml(const Description& machine) {
  std::string text = fmt::format("name: {}\nfamily: {}\nabout: {}\njudged_with: {}\n\nfigures:\n",
                                 quoted(machine.name), machine.family->name(),
                                 quoted(machine.about), quoted(machine.judged_with));
  for (const FigureRule& rule : machine.family->figures()) {
    text += fmt::format("  {}: {}\n", rule.name, text_of(machine, rule.name, "value"));
  }
  text += "\nunknowns:\n";
  for (const FigureRule& rule : machine.family->unknowns()) {
    text += fmt::format("  {}: {}\n", rule.name, text_of(machine, rule.name, "default"));
  }
  if (!machine.links.empty()) {
    text += "\nlinks:  # nearest first\n";
  }
  for (const Link& link : machine.links) {
    text += "  - name: " + link.name + "\n";
    text += link.joins ? fmt::format("    joins: {}\n", *link.joins) : "";
    const std::string ranged = text_of(machine, link.bandwidth.name, "value");
    text += "    bandwidth: " + (ranged.empty() ? figure_text(link.bandwidth) : ranged) + "\n";
    text += "    hop_time: " + text_of(machine, link.hop_time, "default") + "\n";
    text +=
        link.exchange == Exchange::ring ? "" : "    exchange: " + to_string(link.exchange) + "\n";
    text += link.announced_above
                ? "    announced_above: " + figure_text(*link.announced_above) + "\n"
                : "";
  }
  const Stack& stack = machine.stack();
  return text + fmt::format(
                    "\nstacks:\n  - name: {}\n    about: {}\n    stored: {}\n    launching: "
                    "{}\n    weights: {}\n    input: {}\n    status: {}\n    source: {}\n",
                    quoted(stack.name), quoted(stack.about), to_string(stack.stored),
                    to_string(stack.launching), to_string(stack.weights), to_string(stack.input),
                    to_string(stack.status), quoted(stack.source));
}

}  // namespace cosmic::machine
