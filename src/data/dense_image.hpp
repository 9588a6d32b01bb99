// An event as a network sees it: dense images of the three planes, [3, rows, columns], with the
// charge as float and the Label as byte. The buffers belong to the caller and are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "data/downsample.hpp"
#include "data/event.hpp"
#include "data/pixel_values.hpp"

namespace cosmic::data {

/// Rows and columns of each of the three planes.
struct DenseShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::size_t plane_pixels() const { return static_cast<std::size_t>(rows * columns); }
  std::size_t event_pixels() const { return static_cast<std::size_t>(kPlanes) * plane_pixels(); }

  friend bool operator==(const DenseShape&, const DenseShape&) = default;
};

/// The buffers of one event, [3, rows, columns] each.
struct DenseImage {
  std::span<float> charge;
  std::span<std::uint8_t> label;

  /// No charge, all background.
  void clear() const;
};

struct DenseOptions {
  static constexpr std::int64_t kAllPixels = std::numeric_limits<std::int64_t>::max();
  /// What the reference keeps: its batches have room for this many pixels of a plane.
  static constexpr std::int64_t kReferencePixels = 50'000;

  int downsample = 0;
  ChargeScale scale = ChargeScale::linear;
  /// Only this many pixels of a plane are kept, the first ones after downsampling in stored order.
  std::int64_t pixels_kept = kAllPixels;
};

/// Turns sparse events of one grid into dense images: downsamples (average of the charge, maximum
/// of the labels) and places the pixels. It keeps its memory, so it belongs to one thread.
class DenseConverter {
 public:
  DenseConverter(const ImageMeta& grid, const DenseOptions& options);

  const DenseShape& shape() const { return shape_; }
  /// Replaces what `dense` holds; the labels of an event without labels are background. Throws
  /// DataError when a plane is not on the grid or when a label is invalid.
  void convert(const SparseEvent& event, const DenseImage& dense);

 private:
  DenseOptions options_;
  Downsampler downsampler_;
  DenseShape shape_;
};

/// The shape of dense images made from this grid.
DenseShape dense_shape(const ImageMeta& grid, int downsample);

}  // namespace cosmic::data
