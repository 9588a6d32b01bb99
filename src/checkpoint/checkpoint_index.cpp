#include "checkpoint/checkpoint_index.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

// Some ten lines; a file of this size is something else, and its lines are compared with each
// other.
constexpr std::uintmax_t kMaxIndexBytes = 1 << 18;
constexpr std::string_view kLatest = "latest";

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

/// An index speaks of its own folder; a path in it would lead a reader elsewhere.
bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// What is wrong with a line; empty if nothing.
std::string read_line(std::string_view line, CheckpointIndex& index) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return "it has no ':'";
  }
  const std::string_view key = trimmed(line.substr(0, colon));
  const std::string_view name = trimmed(line.substr(colon + 1));
  if (!is_file_name(name)) {
    return "it does not name a file in its folder";
  }
  if (key == kLatest) {
    index.latest = name;
    return {};
  }
  const std::optional<std::int64_t> step = whole_number(key);
  if (!step) {
    return "it starts neither with 'latest' nor with a step";
  }
  // The reference writes the line again when it saves a step again.
  const bool known = std::any_of(index.entries.begin(), index.entries.end(),
                                 [&](const IndexEntry& entry) { return entry.file == name; });
  if (!known) {
    index.entries.push_back({*step, std::string(name)});
  }
  return {};
}

/// Of model-<numbers>.safetensors or .ckpt; empty if it is not so named.
std::string_view numbers_in_name(std::string_view file_name) {
  constexpr std::string_view kStart = "model-";
  for (const std::string_view end : {".safetensors", ".ckpt"}) {
    if (file_name.starts_with(kStart) && file_name.ends_with(end) &&
        file_name.size() > kStart.size() + end.size()) {
      return file_name.substr(kStart.size(), file_name.size() - kStart.size() - end.size());
    }
  }
  return {};
}

}  // namespace

CheckpointIndex parse_index(std::string_view text, const std::filesystem::path& path,
                            std::vector<Warning>& warnings) {
  CheckpointIndex index;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) {
      continue;
    }
    if (const std::string problem = read_line(line, index); !problem.empty()) {
      warnings.push_back({path, "line " + std::to_string(number) + ", " + printable(line) +
                                    ", is ignored: " + problem});
    }
  }
  return index;
}

CheckpointIndex read_index(const std::filesystem::path& path, std::vector<Warning>& warnings) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    if (error != std::errc::no_such_file_or_directory) {
      warnings.push_back({path, "the index cannot be read: " + error.message()});
    }
    return {};
  }
  if (bytes > kMaxIndexBytes) {
    warnings.push_back({path, "the index is ignored: it has " + std::to_string(bytes) + " bytes"});
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.good()) {
    warnings.push_back({path, "the index cannot be read, or is empty"});
  }
  return parse_index(text.str(), path, warnings);
}

std::string to_text(const CheckpointIndex& index) {
  std::string text;
  if (!index.latest.empty()) {
    text += std::string(kLatest) + ": " + index.latest + "\n";
  }
  for (const IndexEntry& entry : index.entries) {
    text += std::to_string(entry.step) + ": " + entry.file + "\n";
  }
  return text;
}

std::optional<std::int64_t> step_in_name(std::string_view file_name) {
  return whole_number(numbers_in_name(file_name));
}

std::optional<InstanceName> instance_in_name(std::string_view file_name) {
  const std::string_view numbers = numbers_in_name(file_name);
  const std::size_t dash = numbers.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const auto step = whole_number(numbers.substr(0, dash));
  const auto instance = whole_number(numbers.substr(dash + 1));
  return step && instance ? std::optional(InstanceName{*step, *instance}) : std::nullopt;
}

}  // namespace cosmic::checkpoint
