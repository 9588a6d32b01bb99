// Between numbers that lie lane by lane (a row for each filter) and blocks of eight lanes, as
// convolutions read their weights and leave the gradients of them.
#pragma once

#include <cstdint>

namespace cosmic::target::cpu {

/// Of each lane, as many as may lie joined in a place of their own on the stack (16 KiB).
inline constexpr std::int64_t kJoinedNumbers = 512;

/// Do the positions of a channel go straight from one form to the other? Fewer do not fill a
/// vector, and more lie in so many lines at once that they push each other out of the cache; of
/// those, several channels are joined in a place of their own first.
constexpr bool goes_straight(std::int64_t positions) {
  return positions >= 4 && positions <= 12;
}

/// Asks for numbers that will be read soon.
inline void fetch_soon(const float* from, std::int64_t count) {
  constexpr std::int64_t kLine = 16;
  for (std::int64_t i = 0; i < count; i += kLine) {
    __builtin_prefetch(from + i);
  }
}

/// to[k * to_stride + lane] = from[lane * from_stride + k], for eight lanes and k below count.
void join_lanes(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                std::int64_t count);

/// The other way round: to[lane * to_stride + k] = from[k * from_stride + lane].
void part_lanes(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                std::int64_t count);

}  // namespace cosmic::target::cpu
