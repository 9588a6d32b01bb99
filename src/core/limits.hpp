// The most of everything that is counted: far above what anybody needs, and low enough that a slip
// of a finger neither starts a hundred thousand threads nor overflows a product of two of them.
// Settings and options state their limit in their errors and in the help.
#pragma once

#include <cstdint>

namespace cosmic {

inline constexpr std::int64_t kMostThreads = 1024;
inline constexpr std::int64_t kMostDevices = 65'536;
inline constexpr std::int64_t kMostBatchEvents = 1'000'000;
inline constexpr std::int64_t kMostReplicas = 1'000'000;
/// Batches whose gradients make one update, and calls in a row.
inline constexpr std::int64_t kMostRepeats = 1'000'000;
inline constexpr std::int64_t kMostStages = 4096;
/// In one file: half a petabyte.
inline constexpr std::int64_t kMostGeneratedEvents = 1'000'000'000;
/// Updates, epochs, events, entries: a run of thirty thousand years at one in a second.
inline constexpr std::int64_t kMostSteps = 1'000'000'000'000;
/// Of a network.
inline constexpr std::int64_t kMostChannels = 65'536;
inline constexpr std::int64_t kMostBlocks = 1024;

}  // namespace cosmic
