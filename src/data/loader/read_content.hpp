// Whether the events that a run reads have anything in them. One empty event is nothing special; a
// whole file of them, or a file whose labels belong to no pixel, is another product or a mistake,
// and a network trained on it or judged by it would look plausible.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "data/event_source.hpp"

namespace cosmic::data {

/// Any number of threads may add events at the same time.
class ReadContent {
 public:
  explicit ReadContent(const EventSource& source);

  /// Throws DataError if this was the last event of a part of the source that had not been read
  /// yet, and all of them were useless.
  void add(std::int64_t entry, const SparseEvent& event);
  /// Throws DataError if events were read and all of them, from whatever part, were useless.
  void require_any() const;

 private:
  struct Part {
    std::string name;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t unread = 0;      ///< entries
    std::int64_t pixels = 0;      ///< of the entries that were read, the first time
    std::int64_t unlabelled = 0;  ///< of these pixels
  };

  static void require_content(const Part& part, std::int64_t events, bool labelled);

  const bool labelled_;
  mutable std::mutex mutex_;
  std::vector<Part> parts_;  ///< that have entries
  std::vector<bool> read_;   ///< by entry; empty for a source without an end
};

}  // namespace cosmic::data
