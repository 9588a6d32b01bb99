#include "data/detector/noise.hpp"

#include <algorithm>
#include <cmath>

#include "data/detector/canvas.hpp"
#include "data/detector/distributions.hpp"

namespace cosmic::data::detector {
namespace {

/// Widths of white noise. Tuned to the real sample, far from any track: on first induction wires
/// 0.8 pixels in 1000 pass 5, on collection wires 0.18; normal distributions of these widths have
/// that and the values' quantiles.
constexpr double kInductionWidth = 1.58;
constexpr double kCollectionWidth = 1.40;

/// Slow noise of second induction wires comes in spells: what it adds, and the mean rows of a spell
/// and of the time between two. Tuned to the real sample: 8.9 pixels in 1000 pass 5, their values'
/// quantiles, how often a hit is followed by another k rows later, and wires without any hit.
constexpr double kLift = 3.05;
constexpr double kLiftedRows = 9;
constexpr double kQuietRows = 135;
constexpr double kLiftedShare = kLiftedRows / (kLiftedRows + kQuietRows);
/// Times between spells are sums of this many exponentials, more even than single ones: the
/// electronics pull the base line back.
constexpr int kQuietShape = 3;
/// A row after a hit passes more often by this than spells explain: pulses are wider than a row.
constexpr double kNextRowPasses = 0.2;

/// Where the row behind that of a place begins.
double row_after(double place) {
  return static_cast<double>(static_cast<std::int64_t>(place) + 1);
}

}  // namespace

double noise_width(WireRole role) {
  switch (role) {
    case WireRole::first_induction:
      return kInductionWidth;
    case WireRole::second_induction:
      return std::hypot(kInductionWidth, kLift * std::sqrt(kLiftedShare * (1 - kLiftedShare)));
    case WireRole::collection:
      return kCollectionWidth;
  }
  return 0;
}

/// The rows of all wires of a plane in one volume, one wire after the other.
class NoiseHits::Ribbon {
 public:
  Ribbon(std::size_t plane, DriftVolume volume)
      : first_column_(wires_of(plane).first),
        first_row_(rows_of(volume).begin),
        length_(static_cast<double>((wires_of(plane).last - first_column_ + 1) * kRowsOfVolume)) {}

  double length() const { return length_; }

  std::uint64_t id_at(double place) const {
    const auto pixel = static_cast<std::int64_t>(place);
    return Canvas::id_of(first_column_ + pixel / kRowsOfVolume, first_row_ + pixel % kRowsOfVolume);
  }

 private:
  std::int64_t first_column_;
  std::int64_t first_row_;
  double length_;
};

NoiseHits::Level::Level(double mean, double width, double threshold)
    : per_row(-std::log1p(-normal_tail(mean, width, threshold))),
      values(normal_above(mean, width, threshold)) {}

NoiseHits::NoiseHits(double threshold)
    : induction_(0, kInductionWidth, threshold),
      lifted_(kLift, kInductionWidth, threshold),
      collection_(0, kCollectionWidth, threshold) {}

void NoiseHits::draw(RandomStream& random, std::size_t plane, std::vector<NoiseHit>& hits) const {
  hits.clear();
  std::size_t of_first_volume = 0;
  for (const DriftVolume volume : {DriftVolume::negative_x, DriftVolume::positive_x}) {
    of_first_volume = hits.size();
    const Ribbon ribbon(plane, volume);
    switch (role_of(plane, volume)) {
      case WireRole::first_induction:
        draw_single(random, induction_, ribbon, hits);
        break;
      case WireRole::second_induction:
        draw_streaks(random, ribbon, hits);
        break;
      case WireRole::collection:
        draw_single(random, collection_, ribbon, hits);
        break;
    }
  }
  std::inplace_merge(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(of_first_volume),
                     hits.end(), [](const NoiseHit& a, const NoiseHit& b) { return a.id < b.id; });
}

void NoiseHits::draw_single(RandomStream& random, const Level& level, const Ribbon& ribbon,
                            std::vector<NoiseHit>& hits) {
  const double mean_way = 1 / level.per_row;
  for (double place = exponential(random, mean_way); place < ribbon.length();
       place = row_after(place) + exponential(random, mean_way)) {
    hits.push_back({ribbon.id_at(place), static_cast<float>(level.values.draw(random))});
  }
}

void NoiseHits::draw_streaks(RandomStream& random, const Ribbon& ribbon,
                             std::vector<NoiseHit>& hits) const {
  // Spells go on from the end of a wire to the beginning of the next, where nobody can tell.
  double place = 0;
  for (bool lifted = false; place < ribbon.length(); lifted = !lifted) {
    const Level& level = lifted ? lifted_ : induction_;
    const double rows = lifted ? exponential(random, kLiftedRows)
                               : gamma(random, kQuietShape, kQuietRows / kQuietShape);
    const double end = std::min(place + rows, ribbon.length());
    const double mean_way = 1 / level.per_row;
    for (double hit = place + exponential(random, mean_way); hit < end;
         hit = place + exponential(random, mean_way)) {
      do {
        hits.push_back({ribbon.id_at(hit), static_cast<float>(level.values.draw(random))});
        hit = row_after(hit);
      } while (hit < ribbon.length() && random.uniform() < kNextRowPasses);
      place = hit;
    }
    place = std::max(place, end);
  }
}

}  // namespace cosmic::data::detector
