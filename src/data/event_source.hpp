// Where events come from: files, or a detector that makes them. Loaders know nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/event.hpp"

namespace cosmic::data {

/// One thread's way to read a source; it keeps its buffers from event to event.
class EventReader {
 public:
  virtual ~EventReader() = default;
  /// Replaces `event` by entry number `entry`, reusing its memory. Throws DataError, with the file,
  /// product, event and plane, when the entry cannot be read.
  virtual void read(std::int64_t entry, SparseEvent& event) = 0;
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual std::int64_t size() const = 0;
  /// The grid that entry 0 is stored on; entries of another size are an error of whoever reads
  /// them.
  virtual ImageMeta meta() const = 0;
  virtual bool labelled() const = 0;
  /// Says where from, for messages.
  virtual std::string description() const = 0;
  /// Readers work independently; each belongs to one thread. The source outlives them.
  virtual std::unique_ptr<EventReader> reader() const = 0;
};

}  // namespace cosmic::data
