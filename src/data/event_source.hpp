// Where events come from: files, or a detector that makes them. Loaders know nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/read_note.hpp"

namespace cosmic::data {

/// One thread's way to read a source; it keeps its buffers from event to event.
class EventReader {
 public:
  virtual ~EventReader() = default;
  /// Replaces `event` by entry number `entry`, reusing its memory. Throws DataError, with the file,
  /// product, event and plane, when the entry cannot be read.
  virtual void read(std::int64_t entry, SparseEvent& event) = 0;
};

/// What a source is put together from: a file, or the whole source where there are none.
struct SourcePart {
  std::string name;
  std::int64_t begin = 0;  ///< its first entry, counted over the whole source
  std::int64_t end = 0;    ///< the entry after its last
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual std::int64_t size() const = 0;
  /// Has it more entries than anybody could read, so that nobody may count on an end?
  virtual bool is_endless() const { return false; }
  /// The grid that entry 0 is stored on; entries of another size are an error of whoever reads
  /// them.
  virtual ImageMeta meta() const = 0;
  virtual bool labelled() const = 0;
  /// Says where from, for messages.
  virtual std::string description() const = 0;
  /// In the order of their entries, of which they leave none out.
  virtual std::vector<SourcePart> parts() const { return {{description(), 0, size()}}; }
  /// Stands for all events with their labels: sources with the same fingerprint give the same.
  virtual std::string fingerprint() const { return description(); }
  /// What was odd in what was read so far, by all readers together; one note for each kind.
  virtual std::vector<ReadNote> notes() const { return {}; }
  /// The sum of their counts, without allocating anything.
  virtual std::uint64_t note_count() const { return 0; }
  /// Readers work independently; each belongs to one thread. The source outlives them.
  virtual std::unique_ptr<EventReader> reader() const = 0;
};

/// "event 3 of b.h5": counted in its part, as a user finds it.
inline std::string event_text(const EventSource& source, std::int64_t entry) {
  for (const SourcePart& part : source.parts()) {
    if (entry >= part.begin && entry < part.end) {
      return "event " + std::to_string(entry - part.begin) + " of " + part.name;
    }
  }
  return "event " + std::to_string(entry) + " of " + source.description();
}

}  // namespace cosmic::data
