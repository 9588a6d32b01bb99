#include "config/dump.hpp"

#include <algorithm>
#include <vector>

#include "config/schema.hpp"

namespace cosmic::config {
namespace {

struct Line {
  std::vector<std::string> path;  ///< sections and the key's own name
  const Key* key = nullptr;
};

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = name.find('.', begin);
    parts.push_back(name.substr(begin, dot - begin));
    if (dot == std::string::npos) {
      return parts;
    }
    begin = dot + 1;
  }
}

/// The keys that mean something for this mode and data, sorted.
std::vector<Line> sorted_lines(const Configuration& configuration) {
  std::vector<Line> lines;
  for (const Key& key : schema()) {
    if (key.applies_to(configuration)) {
      lines.push_back({split(key.name), &key});
    }
  }
  std::sort(lines.begin(), lines.end(),
            [](const Line& a, const Line& b) { return a.path < b.path; });
  return lines;
}

/// Calls `section` with name and depth where one begins, and `leaf` with line and depth.
template <class Section, class Leaf>
void walk(const std::vector<Line>& lines, const Section& section, const Leaf& leaf) {
  std::vector<std::string> open;
  for (const Line& line : lines) {
    const std::vector<std::string> sections(line.path.begin(), line.path.end() - 1);
    const auto still_open =
        std::mismatch(open.begin(), open.end(), sections.begin(), sections.end()).first;
    open.erase(still_open, open.end());
    while (open.size() < sections.size()) {
      section(sections[open.size()], open.size());
      open.push_back(sections[open.size()]);
    }
    leaf(line, sections.size());
  }
}

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

constexpr std::size_t kIndent = 2;

}  // namespace

std::string dump(const Configuration& configuration) {
  constexpr std::size_t kWidth = 30;
  std::string text;
  walk(
      sorted_lines(configuration),
      [&](const std::string& name, std::size_t depth) {
        text += std::string(kIndent * depth, ' ') + name + ": \n";
      },
      [&](const Line& line, std::size_t depth) {
        const std::string& name = line.path.back();
        const std::size_t width = kWidth - std::min(kWidth, kIndent * depth);
        text += std::string(kIndent * depth, ' ') + name +
                std::string(width - std::min(width, name.size()), '.') + ": " +
                to_text(line.key->read(configuration)) + "\n";
      });
  return text;
}

std::string to_yaml(const Configuration& configuration) {
  std::vector<Line> lines = sorted_lines(configuration);
  if (configuration.output_dir == default_output_dir(configuration)) {
    std::erase_if(lines, [](const Line& line) { return line.key->name == "output_dir"; });
  }
  std::string text;
  walk(
      lines,
      [&](const std::string& name, std::size_t depth) {
        text += std::string(kIndent * depth, ' ') + name + ":\n";
      },
      [&](const Line& line, std::size_t depth) {
        const Value value = line.key->read(configuration);
        const bool truth = std::holds_alternative<bool>(value);
        text += std::string(kIndent * depth, ' ') + line.path.back() + ": " +
                (line.key->kind == ValueKind::text ? quoted(to_text(value))
                 : truth                           ? (std::get<bool>(value) ? "true" : "false")
                                                   : to_text(value)) +
                "\n";
      });
  return text;
}

std::string default_output_dir(const Configuration& configuration) {
  return "output/" + model::to_string(configuration.framework.name) + "/" +
         configuration.network.name + "/" + configuration.run.id + "/";
}

}  // namespace cosmic::config
