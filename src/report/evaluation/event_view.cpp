#include "report/evaluation/event_view.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "picture/color_map.hpp"

namespace cosmic::report::evaluation {
namespace {

using picture::Color;
using picture::Picture;

constexpr Color kPanel{17, 18, 26};

// Space around the neutrino, as a share of its extent, and the least that is shown of a plane: too
// few pixels would be mosaic without surroundings.
constexpr double kSpace = 0.2;
// Share of the neutrino's pixels that may be outside of the window, on each of its sides.
constexpr double kFarOut = 0.05;
constexpr std::int64_t kLeastColumns = 56;
// Overviews need no more pixels than a page has for them.
constexpr std::int64_t kOverviewColumns = 512;

Outcome outcome_of(float charge, std::uint8_t truth, std::uint8_t tagged) {
  const bool is_neutrino = truth == kNeutrinoClass;
  const bool called_neutrino = tagged == kNeutrinoClass;
  if (is_neutrino) {
    return called_neutrino ? Outcome::found : Outcome::missed;
  }
  if (called_neutrino) {
    return Outcome::false_neutrino;
  }
  if (truth == kCosmicClass) {
    return Outcome::cosmic;
  }
  return charge == 0 ? Outcome::nothing : Outcome::background;
}

/// Where several pixels become one, the most telling is kept: mistakes before successes.
int importance(Outcome outcome) {
  switch (outcome) {
    case Outcome::missed:
      return 5;
    case Outcome::false_neutrino:
      return 4;
    case Outcome::found:
      return 3;
    case Outcome::cosmic:
      return 2;
    case Outcome::background:
      return 1;
    case Outcome::nothing:
      break;
  }
  return 0;
}

struct Range {
  std::int64_t low = 0;
  std::int64_t high = -1;  ///< inclusive; below `low` if there is nothing
};

/// From the first to the last place with pixels, without a few far out on each side: specks of a
/// neutron would make a picture of everything. `counts` are pixels by place.
Range bulk_of(const std::vector<std::int64_t>& counts) {
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto left_out = static_cast<std::int64_t>(kFarOut * static_cast<double>(all));
  Range range;
  std::int64_t sum = 0;
  for (std::size_t place = 0; place < counts.size(); ++place) {
    if (sum <= left_out && sum + counts[place] > left_out) {
      range.low = static_cast<std::int64_t>(place);
    }
    if (sum < all - left_out && sum + counts[place] >= all - left_out) {
      range.high = static_cast<std::int64_t>(place);
    }
    sum += counts[place];
  }
  return range;
}

/// `extent` pixels around the middle of the range, moved to be inside [0, size).
std::pair<std::int64_t, std::int64_t> placed(const Range& range, std::int64_t extent,
                                             std::int64_t size) {
  extent = std::min(extent, size);
  const std::int64_t begin = (range.low + range.high + 1 - extent) / 2;
  return {std::clamp<std::int64_t>(begin, 0, size - extent), extent};
}

Picture overview_of(const std::vector<Outcome>& outcomes, const data::DenseShape& shape) {
  const std::int64_t factor = (shape.columns + kOverviewColumns - 1) / kOverviewColumns;
  const std::int64_t rows = (shape.rows + factor - 1) / factor;
  const std::int64_t columns = (shape.columns + factor - 1) / factor;
  std::vector<Outcome> kept(static_cast<std::size_t>(rows * columns), Outcome::nothing);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      Outcome& cell = kept[static_cast<std::size_t>(row / factor * columns + column / factor)];
      const Outcome outcome = outcomes[static_cast<std::size_t>(row * shape.columns + column)];
      if (importance(outcome) > importance(cell)) {
        cell = outcome;
      }
    }
  }
  Picture result(rows, columns);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      result.at(rows - 1 - row, column) =
          outcome_color(kept[static_cast<std::size_t>(row * columns + column)]);
    }
  }
  return result;
}

/// The pixels of a window, each with the colour that `color_of` gives for its index in the plane.
template <class ColorOf>
Picture enlarged(const Window& window, const data::DenseShape& shape, const ColorOf& color_of) {
  Picture result(window.rows, window.columns, kPanel);
  for (std::int64_t row = 0; row < window.rows; ++row) {
    for (std::int64_t column = 0; column < window.columns; ++column) {
      result.at(window.rows - 1 - row, column) = color_of(
          static_cast<std::size_t>((window.row + row) * shape.columns + window.column + column));
    }
  }
  return result;
}

}  // namespace

picture::Color outcome_color(Outcome outcome) {
  switch (outcome) {
    case Outcome::nothing:
      return kPanel;
    case Outcome::background:
      return {46, 50, 62};
    case Outcome::cosmic:
      return {78, 94, 122};
    case Outcome::found:
      return {255, 236, 150};
    case Outcome::missed:
      return {240, 100, 40};
    case Outcome::false_neutrino:
      return {60, 190, 250};
  }
  return kPanel;
}

Window window_around(const std::vector<Outcome>& outcomes, const data::DenseShape& shape) {
  const auto bulk = [&](const auto& is_counted) {
    std::vector<std::int64_t> by_row(static_cast<std::size_t>(shape.rows));
    std::vector<std::int64_t> by_column(static_cast<std::size_t>(shape.columns));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (is_counted(outcomes[i])) {
        ++by_row[i / by_column.size()];
        ++by_column[i % by_column.size()];
      }
    }
    return std::pair(bulk_of(by_row), bulk_of(by_column));
  };
  auto [rows, columns] =
      bulk([](Outcome o) { return o == Outcome::found || o == Outcome::missed; });
  if (rows.high < rows.low) {
    std::tie(rows, columns) = bulk([](Outcome o) { return o == Outcome::false_neutrino; });
  }
  if (rows.high < rows.low) {
    return {0, 0, shape.rows, shape.columns};
  }
  const auto with_space = [](const Range& range) {
    return static_cast<double>(range.high - range.low + 1) * (1 + 2 * kSpace);
  };
  // The ratio of the plane's own sides is one that fits into it at any size.
  const double aspect = static_cast<double>(shape.columns) / static_cast<double>(shape.rows);
  const double wide = std::max(
      {with_space(columns), aspect * with_space(rows), static_cast<double>(kLeastColumns)});
  const auto [column, column_count] = placed(columns, std::lround(wide), shape.columns);
  const auto [row, row_count] = placed(rows, std::lround(wide / aspect), shape.rows);
  return {row, column, row_count, column_count};
}

EventView view_of(const infer::TaggedEvent& event, EventResult result) {
  EventView view;
  view.result = std::move(result);
  view.shape = event.shape;
  view.charge_scale = picture::charge_scale({event.charge.begin(), event.charge.end()});
  const std::size_t pixels = event.shape.plane_pixels();
  for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
    const std::size_t first = plane * pixels;
    std::vector<Outcome> outcomes(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      outcomes[i] =
          outcome_of(event.charge[first + i], event.labels[first + i], event.classes[first + i]);
    }
    const Window window = window_around(outcomes, event.shape);
    view.planes.push_back(
        {window, overview_of(outcomes, event.shape),
         enlarged(window, event.shape,
                  [&](std::size_t i) {
                    const double charge = event.charge[first + i];
                    return charge > 0 ? picture::heat_color(view.charge_scale.share(charge))
                                      : kPanel;
                  }),
         enlarged(window, event.shape, [&](std::size_t i) { return outcome_color(outcomes[i]); })});
  }
  return view;
}

}  // namespace cosmic::report::evaluation
