// What one call of a model takes: the images of several samples, one after the other. It looks at
// memory of whoever made it.
#pragma once

#include <cstdint>
#include <span>

#include "data/event.hpp"

namespace cosmic::data {

struct Batch {
  std::span<const float> images;         ///< of events: [events, 3, rows, columns]
  std::span<const std::uint8_t> labels;  ///< of events: the same; all background without labels
  std::span<const std::int64_t> entries;
  std::span<const EventId> ids;
  /// Samples from here on are padding of the last batch of a pass: no entry, empty images.
  std::int64_t valid = 0;
  std::int64_t first_sample =
      0;                   ///< number, since the start of the run, of the global batch's first
  std::int64_t epoch = 0;  ///< passes over the source that were complete before it

  std::int64_t events() const { return static_cast<std::int64_t>(entries.size()); }
};

/// Gives one batch after the other.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, which stays as it is until the next call; null at the end.
  virtual const Batch* next() = 0;
  /// Events of one epoch, from which schedules count.
  virtual std::int64_t epoch_size() const = 0;
};

}  // namespace cosmic::data
