#include "data/detector/readout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/detector/distributions.hpp"

namespace cosmic::data::detector {
namespace {

/// Pixel values per MeV of charge that escaped recombination, by role. Tuned to the real sample:
/// quantiles of the values of cosmic pixels. A fast muon across the wires leaves about 100 on one.
constexpr std::array<double, kWireRoles> kGain{225, 210, 235};

/// Undisturbed charge in MeV that a pixel needs to count as a cosmic ray's or as the neutrino's.
/// The sample's truth clusters begin at 0.04 MeV (SPEC 2.4), some of which recombines; the values
/// are tuned to how many rows beside a labelled pixel have charge and no label in the real sample:
/// on each side 0.3 on induction and 0.15 on collection wires for cosmic rays, half of that for the
/// neutrino.
constexpr std::array<float, 2> kLabelCharge{0.018F, 0.006F};

/// A pixel with less is left to noise.
constexpr float kFaintest = 0.5F;

/// Deposits are drawn as points at most this many pixels apart.
constexpr double kPointSpacing = 0.75;

/// The wires that are dead are a property of the detector, not of an event.
constexpr std::uint64_t kDetectorSeed = 1;

Label label_of(const Canvas::Pixel& pixel) {
  if (pixel.truth[1] >= kLabelCharge[1]) {
    return Label::neutrino;
  }
  return pixel.truth[0] >= kLabelCharge[0] ? Label::cosmic : Label::background;
}

/// std::floor, which is a call into the library on processors of the oldest kind.
std::int64_t floor_of(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return whole - (value < static_cast<double>(whole) ? 1 : 0);
}

}  // namespace

Readout::Readout(const Conditions& conditions)
    : conditions_(conditions),
      response_(conditions.electron_lifetime),
      noise_(conditions.threshold) {
  RandomStream random(kDetectorSeed, "dead wires");
  for (auto& volumes : dead_) {
    for (std::vector<bool>& wires : volumes) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        wires.push_back(random.uniform() < conditions.dead_wires);
      }
    }
  }
}

void Readout::draw(const Deposit& deposit, const Trail& trail, std::size_t plane,
                   Canvas& canvas) const {
  const double middle = 0.5 * (deposit.from.x + deposit.to.x);
  const DriftVolume volume = volume_of(middle);
  const RowRange rows = rows_of(volume);
  const ImagePoint from = project(plane, deposit.from, trail.time, volume);
  const ImagePoint to = project(plane, deposit.to, trail.time, volume);
  if (std::max(from.row, to.row) < static_cast<double>(rows.begin) ||
      std::min(from.row, to.row) >= static_cast<double>(rows.end)) {
    return;
  }
  const WireRole role = role_of(plane, volume);
  const Response::Spread spread = response_.spread(role, drift_distance(middle));
  const double wide = to.column - from.column;
  const double tall = to.row - from.row;
  const int points = 1 + static_cast<int>(std::max(std::abs(wide), std::abs(tall)) / kPointSpacing);
  const double truth = deposit.charge * spread.survival / points;
  const Brush brush{.plane = plane,
                    .volume = volume,
                    .owner = trail.label == Label::neutrino ? std::size_t{1} : std::size_t{0},
                    .truth = static_cast<float>(truth),
                    .charge = static_cast<float>(truth * kGain[static_cast<std::size_t>(role)])};
  for (int point = 0; point < points; ++point) {
    const double part = (point + 0.5) / points;
    draw({from.column + part * wide, from.row + part * tall}, brush, spread, canvas);
  }
}

void Readout::draw(ImagePoint point, const Brush& brush, const Response::Spread& spread,
                   Canvas& canvas) const {
  const double from_column = point.column - kColumnsBefore;
  const double from_row = point.row - kRowsBefore;
  const std::int64_t first_column = floor_of(from_column);
  const std::int64_t first_row = floor_of(from_row);
  const double row_fraction = from_row - static_cast<double>(first_row);
  const float* column_weights =
      Response::columns_at(spread, from_column - static_cast<double>(first_column));
  const float* row_weights = Response::rows_at(spread.rows, row_fraction);
  const float* truth_weights = Response::rows_at(spread.diffused_rows, row_fraction);
  const RowRange rows = rows_of(brush.volume);
  const std::int64_t begin = std::max(first_row, rows.begin);
  const std::int64_t end = std::min(first_row + kSpreadRows, rows.end);
  if (begin >= end) {
    return;
  }
  const WireRange wires = wires_of(brush.plane);
  const std::int64_t end_column = std::min(first_column + kSpreadColumns, wires.last + 1);
  for (std::int64_t c = std::max(first_column, wires.first); c < end_column; ++c) {
    const float charge = brush.charge * column_weights[c - first_column];
    const float truth = brush.truth * column_weights[c - first_column];
    canvas.touch(c, begin, end, [&](std::int64_t r, Canvas::Pixel& pixel) {
      pixel.charge += charge * row_weights[r - first_row];
      pixel.truth[brush.owner] += truth * truth_weights[r - first_row];
    });
  }
}

void Readout::read_out(const Ionization& ionization, std::size_t plane, RandomStream& random,
                       Workspace& workspace, SparsePlane& image, SparsePlane& labels) const {
  for (const Trail& trail : ionization.trails()) {
    for (const Deposit& deposit : ionization.deposits_of(trail)) {
      draw(deposit, trail, plane, workspace.canvas);
    }
  }
  noise_.draw(random, plane, workspace.noise);
  store(plane, random, workspace, image, labels);
}

void Readout::store(std::size_t plane, RandomStream& random, Workspace& workspace,
                    SparsePlane& image, SparsePlane& labels) const {
  image.clear();
  labels.clear();
  image.meta = meta_of(plane);
  labels.meta = image.meta;
  const auto store_pixel = [&](std::uint64_t id, float value, Label label) {
    image.ids.push_back(id);
    image.values.push_back(value);
    labels.values.push_back(static_cast<float>(label));
  };
  auto hit = workspace.noise.begin();
  const auto store_noise_before = [&](std::uint64_t id) {
    for (; hit != workspace.noise.end() && hit->id < id; ++hit) {
      const auto row = static_cast<std::int64_t>(hit->id % kRows);
      if (!is_dead(plane, volume_of_row(row), static_cast<std::int64_t>(hit->id / kRows))) {
        store_pixel(hit->id, hit->value, Label::background);
      }
    }
  };
  const auto threshold = static_cast<float>(conditions_.threshold);
  const std::array<double, kDriftVolumes> width{
      noise_width(role_of(plane, DriftVolume::negative_x)),
      noise_width(role_of(plane, DriftVolume::positive_x))};
  workspace.canvas.take([&](std::int64_t column, std::int64_t row, const Canvas::Pixel& pixel) {
    const DriftVolume volume = volume_of_row(row);
    if (pixel.charge < kFaintest || is_dead(plane, volume, column)) {
      return;
    }
    const float noisy = pixel.charge + static_cast<float>(nearly_normal(random) *
                                                          width[static_cast<std::size_t>(volume)]);
    if (noisy < threshold) {
      return;
    }
    const std::uint64_t id = Canvas::id_of(column, row);
    store_noise_before(id);
    if (hit != workspace.noise.end() && hit->id == id) {
      ++hit;  // it is in the charge's own noise
    }
    store_pixel(id, noisy, label_of(pixel));
  });
  store_noise_before(std::numeric_limits<std::uint64_t>::max());
  labels.ids = image.ids;
}

}  // namespace cosmic::data::detector
