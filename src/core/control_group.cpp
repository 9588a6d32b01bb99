#include "core/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

namespace cosmic {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

template <class Value>
using LimitOf = std::function<std::optional<Value>(const std::filesystem::path& group)>;

/// How one kind of limit is read in either version.
template <class Value>
struct Limit {
  /// Of the controller in version 1, with the slash that tells it from the target of that name,
  /// which is not for this layer to name.
  std::string folder;
  LimitOf<Value> version_1;
  LimitOf<Value> version_2;
};

/// The least of the group and all above it.
template <class Value>
std::optional<Value> least(const std::filesystem::path& root, std::filesystem::path group,
                           const LimitOf<Value>& limit) {
  std::optional<Value> found;
  for (group = group.relative_path();; group = group.parent_path()) {
    if (const std::optional<Value> here = limit(root / group)) {
      found = std::min(found.value_or(*here), *here);
    }
    if (group.empty()) {
      return found;
    }
  }
}

template <class Value>
std::optional<Value> limit_in(const std::filesystem::path& root, const std::string& groups,
                              const Limit<Value>& limit) {
  const std::string controller = limit.folder.substr(0, limit.folder.size() - 1);
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::filesystem::path group = line.substr(second + 1);
    std::optional<Value> found;
    if (controllers == ",,") {
      found = least(root, group, limit.version_2);
    } else if (controllers.find("," + controller + ",") != std::string::npos) {
      found = least(root / limit.folder, group, limit.version_1);
    }
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

/// "200000 100000", or "max 100000" without a limit.
std::optional<double> quota_of(const std::string& quota_and_period) {
  std::istringstream text(quota_and_period);
  double quota = 0;
  double period = 0;
  return text >> quota >> period && quota > 0 && period > 0 ? std::optional(quota / period)
                                                            : std::nullopt;
}

/// A number alone in its file; nothing for "max".
std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

/// Of a file of lines such as "inactive_file 4096".
std::int64_t number_named(const std::string& name, const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string key;
  for (std::int64_t number = 0; stream >> key >> number;) {
    if (key == name) {
      return number;
    }
  }
  return 0;
}

std::optional<std::int64_t> left_of(const std::filesystem::path& most,
                                    const std::filesystem::path& used, std::int64_t given_back) {
  const std::optional<std::int64_t> limit = number_in(most);
  const std::optional<std::int64_t> current = number_in(used);
  return limit && current ? std::optional(std::max<std::int64_t>(*limit - *current + given_back, 0))
                          : std::nullopt;
}

}  // namespace

std::optional<double> control_group_quota(const std::filesystem::path& root,
                                          const std::string& groups) {
  return limit_in<double>(root, groups,
                          {.folder = "cpu/",
                           .version_1 =
                               [](const std::filesystem::path& group) {
                                 return quota_of(content_of(group / "cpu.cfs_quota_us") + " " +
                                                 content_of(group / "cpu.cfs_period_us"));
                               },
                           .version_2 =
                               [](const std::filesystem::path& group) {
                                 return quota_of(content_of(group / "cpu.max"));
                               }});
}

std::optional<std::int64_t> control_group_memory_left(const std::filesystem::path& root,
                                                      const std::string& groups) {
  return limit_in<std::int64_t>(
      root, groups,
      {.folder = "memory/",
       .version_1 =
           [](const std::filesystem::path& group) {
             return left_of(group / "memory.limit_in_bytes", group / "memory.usage_in_bytes",
                            number_named("total_inactive_file", group / "memory.stat") +
                                number_named("total_active_file", group / "memory.stat"));
           },
       .version_2 =
           [](const std::filesystem::path& group) {
             return left_of(group / "memory.max", group / "memory.current",
                            number_named("inactive_file", group / "memory.stat") +
                                number_named("active_file", group / "memory.stat"));
           }});
}

std::optional<double> control_group_quota() {
  return control_group_quota(kRoot, content_of("/proc/self/cgroup"));
}

std::optional<std::int64_t> control_group_memory_left() {
  return control_group_memory_left(kRoot, content_of("/proc/self/cgroup"));
}

}  // namespace cosmic
