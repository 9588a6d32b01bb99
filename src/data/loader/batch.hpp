// What one call of a model takes: the images of several samples, one after the other. It looks at
// memory of whoever made it.
#pragma once

#include <cstdint>
#include <span>

#include "data/event.hpp"

namespace cosmic::data {

/// In what form a batch has its images and labels: all of them, or only the pixels that are not
/// zero.
enum class BatchForm { images, pixels };

/// The pixels of a batch that are not zero.
template <class Value>
struct BatchPixels {
  /// One more than there are samples: those of sample i are [first[i], first[i + 1]) of the others.
  std::span<const std::int64_t> first;
  std::span<const std::int32_t> places;  ///< in the sample, ascending
  std::span<const Value> values;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(first.size_bytes() + places.size_bytes() +
                                     values.size_bytes());
  }
};

struct Batch {
  std::span<const float> images;         ///< of events: [events, 3, rows, columns]
  std::span<const std::uint8_t> labels;  ///< of events: the same; all background without labels
  // Instead of these two, where pixels were asked for:
  BatchPixels<float> image_pixels = {};
  BatchPixels<std::uint8_t> label_pixels = {};
  bool pinned = false;  ///< the pixels lie in memory that a machine may fetch by itself
  std::span<const std::int64_t> entries;
  std::span<const EventId> ids;
  /// Samples from here on are padding of the last batch of a pass: no entry, empty images.
  std::int64_t valid = 0;
  std::int64_t first_sample =
      0;                   ///< number, since the start of the run, of the global batch's first
  std::int64_t epoch = 0;  ///< passes over the source that were complete before it

  std::int64_t events() const { return static_cast<std::int64_t>(entries.size()); }
  BatchForm form() const {
    return image_pixels.first.empty() ? BatchForm::images : BatchForm::pixels;
  }
  /// Of images and labels, in the form that they have.
  std::int64_t bytes() const {
    return form() == BatchForm::pixels
               ? image_pixels.bytes() + label_pixels.bytes()
               : static_cast<std::int64_t>(images.size_bytes() + labels.size_bytes());
  }
};

/// Gives one batch after the other.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, which stays as it is until the next call, or longer where a source says so;
  /// null at the end.
  virtual const Batch* next() = 0;
  /// Events of one epoch, from which schedules count.
  virtual std::int64_t epoch_size() const = 0;
};

}  // namespace cosmic::data
