// What the control group of this process may use of its host: containers and batch systems limit
// processors and memory by them, and nothing else tells a process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cosmic {

// Of the group that this process is in, by the files below `root` (`/sys/fs/cgroup`) and what
// `/proc/self/cgroup` says; nothing where there is no limit. A limit of any group above it holds,
// too.

/// Cores.
std::optional<double> control_group_quota(const std::filesystem::path& root,
                                          const std::string& groups);
/// Bytes that are left of its memory. What it has of files that could be read again counts as left.
std::optional<std::int64_t> control_group_memory_left(const std::filesystem::path& root,
                                                      const std::string& groups);

/// Those of the system.
std::optional<double> control_group_quota();
std::optional<std::int64_t> control_group_memory_left();

}  // namespace cosmic
