#include "data/dense_image.hpp"

#include <algorithm>
#include <sstream>

#include "core/error.hpp"

namespace cosmic::data {

void refuse_label(float value, std::size_t plane) {
  std::ostringstream message;
  message << "plane " << plane << " has a pixel with the label " << value
          << " (0 is background, 1 cosmic, 2 neutrino); is this the product with the labels?";
  throw DataError(message.str());
}

// All of it, although an event sets few pixels. Taking away only what the last event had set (a bit
// for every used cache line) was tried on real events: a conversion took 1.7 ms instead of 1.4 at
// half resolution, and 2.1 ms instead of 2.5 at full resolution, which is rarely used.
void DenseImage::clear() const {
  std::fill(charge.begin(), charge.end(), 0.0F);
  std::fill(label.begin(), label.end(), std::uint8_t{0});
}

DenseShape dense_shape(const ImageMeta& grid, int downsample) {
  const ImageMeta result = downsampled(grid, downsample);
  return {static_cast<std::int64_t>(result.rows()), static_cast<std::int64_t>(result.columns())};
}

DenseConverter::DenseConverter(const ImageMeta& grid, const DenseOptions& options)
    : options_(options),
      downsampler_(grid, options.downsample),
      shape_(dense_shape(grid, options.downsample)) {}

void DenseConverter::convert(const SparseEvent& event, const DenseImage& dense) {
  COSMIC_ASSERT(dense.charge.size() == shape_.event_pixels() &&
                dense.label.size() == shape_.event_pixels());
  const std::size_t plane_pixels = shape_.plane_pixels();
  const auto columns = static_cast<std::size_t>(shape_.columns);
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    const DenseImage image{dense.charge.subspan(plane * plane_pixels, plane_pixels),
                           dense.label.subspan(plane * plane_pixels, plane_pixels)};
    image.clear();  // plane by plane: what was cleared last is still in the cache
    /// Calls set(pixel, value) for the pixels that are kept.
    const auto place = [&](const SparsePlane& stored, Pooling pooling, const auto& set) {
      std::int64_t room = options_.pixels_kept;
      downsampler_.for_each_pixel(stored, pooling,
                                  [&](std::uint64_t column, std::uint64_t row, float value) {
                                    if (room > 0) {
                                      --room;
                                      set(row * columns + column, value);
                                    }
                                  });
    };
    place(event.image[plane], Pooling::average, [&](std::size_t pixel, float value) {
      image.charge[pixel] = on_scale(value, options_.scale);
    });
    if (event.labelled) {
      place(event.labels[plane], Pooling::maximum,
            [&](std::size_t pixel, float value) { image.label[pixel] = label_of(value, plane); });
    }
  }
}

}  // namespace cosmic::data
