#include "target/ipu/tile_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cosmic::target::ipu {
namespace {

using machine::LargeTensor;
using machine::LiveTensor;
using machine::MemoryMap;
using machine::ModelledBytes;

constexpr double kLeastBytesOfTile = 128;  // PopLibs: less would cost more exchange than it saves

enum class Life { always, transient };

class Tiles {
 public:
  explicit Tiles(const TileLoad& load)
      : load_(load), always_live_(load.tiles, 0), transient_(load.tiles, 0) {}

  void add(const LiveTensor& tensor, double share, Life life) {
    const double bytes = tensor.bytes * share;
    if (bytes <= 0) {
      return;
    }
    Spread spread = spread_linearly(bytes, load_.grain_bytes, load_.tiles, next_);
    next_ = (spread.first + spread.bytes.size()) % load_.tiles;
    std::vector<double>& sums = life == Life::always ? always_live_ : transient_;
    for (std::size_t i = 0; i < spread.bytes.size(); ++i) {
      sums[(spread.first + i) % load_.tiles] += spread.bytes[i];
    }
    total_ += bytes;
    placed_.push_back({&tensor, std::move(spread)});
  }

  MemoryMap take() const {
    MemoryMap map;
    map.kind = "tile";
    map.rule =
        "A tensor occupies consecutive tiles, 128 bytes or more on each, and starts where the "
        "previous one ended. Convolutions are laid out by their planner, less evenly; the reserve "
        "allows for that.";
    map.available = ModelledBytes(load_.tile_bytes);
    const double reserve = (load_.imbalance - 1) * total_ / static_cast<double>(load_.tiles);
    for (std::size_t tile = 0; tile < load_.tiles; ++tile) {
      map.places.push_back({.always_live = ModelledBytes(always_live_[tile]),
                            .transient = ModelledBytes(transient_[tile]),
                            .temporary = ModelledBytes(load_.temporary),
                            .overhead = ModelledBytes(load_.overhead),
                            .reserve = ModelledBytes(reserve)});
      if (map.places[tile].needed() > map.places[map.fullest].needed()) {
        map.fullest = tile;
      }
    }
    map.in_fullest = on_tile(map.fullest);
    return map;
  }

 private:
  struct Placed {
    const LiveTensor* tensor;
    Spread spread;
  };

  std::vector<LargeTensor> on_tile(std::size_t tile) const {
    std::vector<LargeTensor> here;
    for (const Placed& placed : placed_) {
      const std::size_t at = (tile + load_.tiles - placed.spread.first) % load_.tiles;
      if (at < placed.spread.bytes.size()) {
        here.push_back(
            {placed.tensor->layer, placed.tensor->op, ModelledBytes(placed.spread.bytes[at])});
      }
    }
    std::stable_sort(here.begin(), here.end(),
                     [](const LargeTensor& a, const LargeTensor& b) { return a.bytes > b.bytes; });
    return here;
  }

  const TileLoad& load_;
  std::vector<double> always_live_;
  std::vector<double> transient_;
  std::vector<Placed> placed_;
  std::size_t next_ = 0;
  double total_ = 0;
};

}  // namespace

Spread spread_linearly(double bytes, double grain_bytes, std::size_t tiles, std::size_t first) {
  const double used =
      std::clamp(std::floor(bytes / kLeastBytesOfTile), 1.0, static_cast<double>(tiles));
  const double grains = std::ceil(bytes / grain_bytes);
  const double on_each = std::floor(grains / used);
  const double with_one_more = grains - on_each * used;
  Spread spread{first, {}};
  double left = bytes;  // the last grain may not be full
  for (double tile = 0; tile < used; ++tile) {
    const double here = std::min(left, grain_bytes * (on_each + (tile < with_one_more ? 1 : 0)));
    spread.bytes.push_back(here);
    left -= here;
  }
  return spread;
}

MemoryMap spread_over_tiles(const TileLoad& load, const machine::StageLiveness& stage) {
  Tiles tiles(load);
  for (const LiveTensor& state : stage.state_tensors) {
    if (load.optimizer_on_chip || state.op != machine::kOptimizerState) {
      tiles.add(state, load.share, Life::always);
    }
  }
  const LiveTensor accumulators{.value = {},
                                .layer = "sums of gradients",
                                .op = "gradient accumulation",
                                .bytes = load.accumulators};
  tiles.add(accumulators, load.share, Life::always);
  const std::vector<LiveTensor> alive = machine::alive_at(stage.tensors, load.node);
  for (const LiveTensor& tensor : alive) {
    tiles.add(tensor, load.share, Life::transient);
  }
  const LiveTensor stash{.value = {},
                         .layer = "of other runs in flight, for their backward pass",
                         .op = "stash",
                         .bytes = load.stash};
  tiles.add(stash, load.share, Life::transient);
  return tiles.take();
}

}  // namespace cosmic::target::ipu
