#include "data/detector/event_windows.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace cosmic::data::detector {
namespace {

/// Half of the detector's detail on each axis: a small window still shows a metre.
constexpr int kMostHalvings = 1;

/// As often as the window, that much larger, fits the detector's image.
int halvings_for(std::int64_t rows, std::int64_t columns) {
  COSMIC_REQUIRE(UserError, rows >= 1 && columns >= 1 && rows <= kRows && columns <= kColumns,
                 "an image of " << rows << " x " << columns << " pixels (the detector's has "
                                << kRows << " x " << kColumns
                                << "); choose smaller --rows and --columns");
  int halvings = kMostHalvings;
  while (rows << halvings > kRows || columns << halvings > kColumns) {
    --halvings;
  }
  return halvings;
}

/// Where a window begins that has `place` somewhere in its middle.
std::int64_t window_start(RandomStream& random, double place, std::int64_t size, std::int64_t all) {
  constexpr double kEdge = 0.2;  // of the window, so that more than the edge of a neutrino is seen
  const double start = place - random.uniform(kEdge, 1 - kEdge) * static_cast<double>(size);
  return std::clamp(static_cast<std::int64_t>(start), std::int64_t{0}, all - size);
}

}  // namespace

EventWindows::EventWindows(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
    : rows_(rows),
      columns_(columns),
      seed_(seed),
      halvings_(halvings_for(rows, columns)),
      simulator_(detector_, seed),
      downsampler_(meta_of(0), halvings_) {}

void EventWindows::append(std::int64_t index, std::vector<float>& image,
                          std::vector<std::uint8_t>& label) {
  simulator_.simulate(index, simulated_);
  RandomStream random(seed_, "window " + std::to_string(index));
  const double scale = 1.0 / static_cast<double>(1 << halvings_);
  const double vertex_row = simulated_.neutrino_boxes[0].boxes.front().centroid[1] * scale;
  // A row is the same time on all planes, so they share the window's rows; a column is not the same
  // place.
  const std::int64_t first_row = window_start(random, vertex_row, rows_, kRows >> halvings_);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const double vertex_column = simulated_.neutrino_boxes[plane].boxes.front().centroid[0] * scale;
    const std::int64_t first_column =
        window_start(random, vertex_column, columns_, kColumns >> halvings_);
    const std::size_t begin = image.size();
    const auto pixels = static_cast<std::size_t>(rows_ * columns_);
    image.resize(begin + pixels);
    label.resize(begin + pixels);
    const auto place = [&](auto&& put) {
      return [&, put](std::uint64_t column, std::uint64_t row, float value) {
        const std::int64_t r = static_cast<std::int64_t>(row) - first_row;
        const std::int64_t c = static_cast<std::int64_t>(column) - first_column;
        if (r >= 0 && r < rows_ && c >= 0 && c < columns_) {
          put(begin + static_cast<std::size_t>(r * columns_ + c), value);
        }
      };
    };
    downsampler_.for_each_pixel(simulated_.event.image[plane], Pooling::average,
                                place([&](std::size_t at, float value) { image[at] = value; }));
    downsampler_.for_each_pixel(
        simulated_.event.labels[plane], Pooling::maximum,
        place([&](std::size_t at, float value) { label[at] = static_cast<std::uint8_t>(value); }));
  }
}

}  // namespace cosmic::data::detector
