// Which tile holds what: each tensor occupies as many consecutive tiles as it needs, so that the
// fullest tile and what fills it can be named. The rule is that of PopLibs' linear mapping: grains
// are not split, a tile gets at least 128 bytes or none, and a tensor starts where the previous one
// ended.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/liveness.hpp"
#include "machine/prediction.hpp"

namespace cosmic::target::ipu {

/// A tensor's bytes on consecutive tiles, from `first` on, round and round.
struct Spread {
  std::size_t first = 0;
  std::vector<double> bytes;
};

Spread spread_linearly(double bytes, double grain_bytes, std::size_t tiles, std::size_t first);

/// What tiles hold at the program's fullest moment.
struct TileLoad {
  std::size_t tiles = 1;
  double tile_bytes = 0;
  double grain_bytes = 8;  ///< of a vector; not split
  std::size_t node = 0;    ///< as it runs, tiles are fullest
  double share = 1;  ///< of each tensor, on one machine: less than 1 where several share a stage
  bool optimizer_on_chip = true;
  double accumulators = 0;  ///< bytes of sums of gradients
  double stash = 0;         ///< bytes that other runs under way keep for their backward pass
  double temporary = 0;     ///< on every tile
  double overhead = 0;      ///< on every tile
  double imbalance = 1;     ///< fullest tile against the mean, in layouts that planners choose
};

/// `imbalance` is kept free on every tile as a share of the mean: convolutions are laid out by
/// their planner, less evenly than this.
machine::MemoryMap spread_over_tiles(const TileLoad& load, const machine::StageLiveness& stage);

}  // namespace cosmic::target::ipu
