#include "data/detector/noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/detector/distributions.hpp"

namespace cosmic::data::detector {
namespace {

/// Tuned to the real sample, far from any track: on first induction wires 0.8 pixels in 1000 pass
/// 5, on collection wires 0.18, on second induction wires 8.9; a normal distribution of this width
/// has that and the values' quantiles.
constexpr std::array<double, kWireRoles> kWidth{1.58, 2.09, 1.40};

/// The share of slow noise in the variance on second induction wires, and the rows over which it
/// forgets itself. Tuned to the real sample: how often a hit is followed by another k rows later.
constexpr double kSlowShare = 0.57;
constexpr double kSlowRows = 10;
/// A row after a hit passes more often by this than slow noise explains: pulses are wider than a
/// row.
constexpr double kNextRowPasses = 0.18;

/// Rows over which slow noise is taken as constant.
constexpr std::int64_t kCellRows = 4;
static_assert(kRowsOfVolume % kCellRows == 0);

/// Levels of slow noise are tabulated within this many of its widths.
constexpr double kSteepest = 5;

double normal_tail(double x) {
  return 0.5 * std::erfc(x / std::numbers::sqrt2);
}

double slow_width() {
  return kWidth[static_cast<std::size_t>(WireRole::second_induction)] * std::sqrt(kSlowShare);
}

double fast_width() {
  return kWidth[static_cast<std::size_t>(WireRole::second_induction)] * std::sqrt(1 - kSlowShare);
}

}  // namespace

double noise_width(WireRole role) {
  return kWidth[static_cast<std::size_t>(role)];
}

NoiseHits::NoiseHits(double threshold) : threshold_(threshold) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    const double slow = ((static_cast<double>(level) + 0.5) / kLevels * 2 - 1) * kSteepest;
    const double passes = normal_tail((threshold - slow * slow_width()) / fast_width());
    const double some = 1 - std::pow(1 - passes, kCellRows);
    levels_[level] = {.row_passes = passes,
                      .cell_passes = some,
                      .log_row_fails = std::log(1 - passes),
                      .in_65536 = static_cast<std::uint32_t>(std::lround(some * 65536))};
  }
  for (std::size_t bits = 0; bits < least_slow_.size(); ++bits) {
    const auto level = std::find_if(levels_.begin(), levels_.end(),
                                    [&](const Level& one) { return one.in_65536 > bits << 8; });
    least_slow_[bits] =
        (static_cast<double>(level - levels_.begin()) / kLevels * 2 - 1) * kSteepest;
  }
}

void NoiseHits::draw(RandomStream& random, std::size_t plane, DriftVolume volume,
                     const Hit& hit) const {
  if (role_of(plane, volume) == WireRole::second_induction) {
    draw_streaks(random, plane, volume, hit);
  } else {
    draw_single(random, plane, volume, hit);
  }
}

void NoiseHits::draw_single(RandomStream& random, std::size_t plane, DriftVolume volume,
                            const Hit& hit) const {
  const WireRange wires = wires_of(plane);
  const RowRange rows = rows_of(volume);
  const double width = noise_width(role_of(plane, volume));
  const double mean_gap = 1 / normal_tail(threshold_ / width);
  const auto pixels = static_cast<double>((wires.last - wires.first + 1) * kRowsOfVolume);
  for (double at = exponential(random, mean_gap); at < pixels;
       at += 1 + exponential(random, mean_gap)) {
    const auto pixel = static_cast<std::int64_t>(at);
    hit(wires.first + pixel / kRowsOfVolume, rows.begin + pixel % kRowsOfVolume,
        static_cast<float>(normal_above(random, threshold_, width)));
  }
}

void NoiseHits::draw_streaks(RandomStream& random, std::size_t plane, DriftVolume volume,
                             const Hit& hit) const {
  const WireRange wires = wires_of(plane);
  const RowRange rows = rows_of(volume);
  const double width = noise_width(WireRole::second_induction);
  // One random number of 64 bits serves a cell: 48 bits add up to the step of slow noise, whose sum
  // over several cells is close to normal; 16 bits decide whether a row passes.
  constexpr std::uint64_t kPart = 0xffff;
  const double keeps = std::exp(-static_cast<double>(kCellRows) / kSlowRows);
  // Three uniform numbers of [0, 65536) have a standard deviation of half of 65536.
  const double step = std::sqrt(1 - keeps * keeps) / (0.5 * 65536);
  constexpr double kMeanOfParts = 3 * 0.5 * 65535;
  for (std::int64_t column = wires.first; column <= wires.last; ++column) {
    double slow = random.normal();
    for (std::int64_t cell = rows.begin; cell < rows.end; cell += kCellRows) {
      const std::uint64_t bits = random.next();
      const double sum =
          static_cast<double>((bits & kPart) + (bits >> 16 & kPart) + (bits >> 32 & kPart));
      slow = keeps * slow + step * (sum - kMeanOfParts);
      if (slow < least_slow_[bits >> 56]) {
        continue;  // most of them, without looking up the level
      }
      const auto scaled = static_cast<std::int64_t>((slow * (1 / kSteepest) + 1) * (kLevels / 2));
      const Level& level = levels_[static_cast<std::size_t>(
          std::clamp(scaled, std::int64_t{0}, static_cast<std::int64_t>(kLevels) - 1))];
      if ((bits >> 48) >= level.in_65536) {
        continue;
      }
      // The first row that passes, given that one does.
      const double drawn = std::log(1 - random.uniform() * level.cell_passes);
      std::int64_t row = cell + static_cast<std::int64_t>(drawn / level.log_row_fails);
      bool previous = true;
      hit(column, std::min(row, cell + kCellRows - 1),
          static_cast<float>(normal_above(random, threshold_, width)));
      for (++row; row < cell + kCellRows; ++row) {
        const double chance = level.row_passes + (previous ? kNextRowPasses : 0);
        previous = random.uniform() < chance;
        if (previous) {
          hit(column, row, static_cast<float>(normal_above(random, threshold_, width)));
        }
      }
    }
  }
}

}  // namespace cosmic::data::detector
