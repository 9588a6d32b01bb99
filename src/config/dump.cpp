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

/// A list in YAML's short form; one text without the brackets, unless it would be read as several.
std::string texts_to_yaml(const std::vector<std::string>& texts) {
  const std::string one = texts.empty() ? "" : texts.front();
  if (texts.size() <= 1 && to_text(texts) == one) {
    return in_quotes(one);
  }
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + in_quotes(text);
  }
  return "[" + all + "]";
}

std::string value_to_yaml(const Key& key, const Value& value) {
  if (const bool* truth = std::get_if<bool>(&value)) {
    return *truth ? "true" : "false";
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    return texts_to_yaml(*texts);
  }
  return key.kind == ValueKind::text ? in_quotes(to_text(value)) : to_text(value);
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
        text += std::string(kIndent * depth, ' ') + line.path.back() + ": " +
                value_to_yaml(*line.key, line.key->read(configuration)) + "\n";
      });
  return text;
}

std::string default_output_dir(const Configuration& configuration) {
  return "output/" + model::to_string(configuration.framework.name) + "/" +
         configuration.network.name + "/" + configuration.run.id + "/";
}

}  // namespace cosmic::config
