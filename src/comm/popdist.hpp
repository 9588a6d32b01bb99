// What poprun says about the processes that it starts, by the functions that PopDist has for it. An
// instance is a process; each has replicas of its own, and those of all instances train together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace cosmic::comm::popdist {

/// `variable` returns the value of an environment variable, or null; std::getenv is one.
using Environment = std::function<const char*(const char*)>;

/// What PopDist's users give to Options::randomSeed, so that all instances shuffle alike.
inline constexpr std::int64_t kCommonSeed = 42;

/// Did poprun start this process?
bool is_environment_set(const Environment& variable);
/// Which instance this is, of all hosts; 0 for a process that poprun did not start.
std::int64_t instance_index(const Environment& variable);
std::int64_t instances(const Environment& variable);
/// Replicas of this instance; 1 for a process that poprun did not start.
std::int64_t local_replicas(const Environment& variable);
/// Of all instances.
std::int64_t total_replicas(const Environment& variable);

}  // namespace cosmic::comm::popdist
