// How a row of Winograd tiles is cut into runs: transformed inputs and products of a run should
// stay in the second-level cache between the transforms and the multiplication.
#pragma once

#include <algorithm>
#include <cstdint>

#include "target/cpu/kernels/winograd_kernels.hpp"

namespace cosmic::target::cpu {

// Half of a typical second-level cache; weights or sums need the other half.
inline constexpr std::int64_t kWinogradRunFloats = 64 * 1024;

/// No run has more tiles than one with a single block of channels in all.
inline constexpr std::int64_t kMostWinogradTiles =
    kWinogradRunFloats / (kWinogradPositions * kBlock);

/// Tiles of a run, of `blocks` channel blocks in all, in a row of `tiles`.
inline std::int64_t winograd_run(std::int64_t tiles, std::int64_t blocks) {
  // What the multiplication can cut into registers without a rest.
  constexpr std::int64_t kWholeRun = 24;
  const std::int64_t runs = kWinogradRunFloats / (kWinogradPositions * kBlock * blocks) / kWholeRun;
  return std::min(tiles, std::max<std::int64_t>(runs, 1) * kWholeRun);
}

/// Floats from a position of a run to the next. A cache line more than needed: without it all
/// positions of a tile would start a multiple of 4 KiB apart and push each other out of the
/// first-level cache.
inline std::int64_t winograd_position_stride(std::int64_t blocks, std::int64_t tiles) {
  constexpr std::int64_t kLine = 16;
  return blocks * tiles * kBlock + kLine;
}

}  // namespace cosmic::target::cpu
