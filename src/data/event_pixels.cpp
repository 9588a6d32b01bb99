#include "data/event_pixels.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"

namespace cosmic::data {

PixelConverter::PixelConverter(const ImageMeta& grid, const DenseOptions& options)
    : options_(options),
      downsampler_(grid, options.downsample),
      shape_(dense_shape(grid, options.downsample)) {
  constexpr auto kMostPixels = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  COSMIC_REQUIRE(
      DataError, shape_.event_pixels() <= kMostPixels,
      "images of " << shape_.rows << " rows and " << shape_.columns
                   << " columns (three of them have more pixels than 32 bits can count); "
                      "choose a larger data.downsample");
}

void PixelConverter::gather(const SparsePlane& stored, Pooling pooling) {
  rows_.clear();
  places_.clear();
  values_.clear();
  begins_.assign(static_cast<std::size_t>(shape_.rows) + 1, 0);
  const auto columns = static_cast<std::size_t>(shape_.columns);
  std::int64_t room = options_.pixels_kept;
  downsampler_.for_each_pixel(
      stored, pooling, [&](std::uint64_t column, std::uint64_t row, float value) {
        if (room > 0) {
          --room;
          rows_.push_back(static_cast<std::uint32_t>(row));
          places_.push_back(static_cast<std::int32_t>(row * columns + column));
          values_.push_back(value);
          ++begins_[row + 1];
        }
      });
}

void PixelConverter::sort_by_row() {
  for (std::size_t row = 1; row < begins_.size(); ++row) {
    begins_[row] += begins_[row - 1];
  }
  sorted_places_.resize(places_.size());
  sorted_values_.resize(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::size_t to = begins_[rows_[i]]++;
    sorted_places_[to] = places_[i];
    sorted_values_[to] = values_[i];
  }
}

void PixelConverter::convert(const SparseEvent& event, EventPixels& pixels) {
  pixels.clear();
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    const auto first = static_cast<std::int32_t>(plane * shape_.plane_pixels());
    /// Calls add(place, value) for every pixel; of those at one place the last, as in an image.
    const auto for_each_sorted = [&](const auto& add) {
      sort_by_row();
      for (std::size_t i = 0; i < sorted_places_.size(); ++i) {
        if (i + 1 == sorted_places_.size() || sorted_places_[i + 1] != sorted_places_[i]) {
          add(first + sorted_places_[i], sorted_values_[i]);
        }
      }
    };
    gather(event.image[plane], Pooling::average);
    for_each_sorted([&](std::int32_t place, float value) {
      pixels.charge.add(place, on_scale(value, options_.scale));
    });
    if (!event.labelled) {
      continue;
    }
    gather(event.labels[plane], Pooling::maximum);
    for (const float value : values_) {
      label_of(value, plane);  // in stored order, so that an image and its pixels say the same
    }
    for_each_sorted([&](std::int32_t place, float value) {
      if (value != 0) {
        pixels.label.add(place, static_cast<std::uint8_t>(value));
      }
    });
  }
}

}  // namespace cosmic::data
