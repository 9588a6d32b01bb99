// What the list shows about every event. A thread of its own goes through the files from their
// first event on; whoever asks gets what is there by then.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "view/event_store.hpp"

namespace cosmic::view {

/// Names of the columns of the list, and the row of an event, as JSON arrays.
std::string index_columns(const EventStore& store);
std::string index_row(std::int64_t entry, const EventSummary& event);

class EventIndex {
 public:
  /// Begins at once. The store outlives it.
  explicit EventIndex(const EventStore& store);
  /// Stops after the event at hand.
  ~EventIndex();
  EventIndex(const EventIndex&) = delete;
  EventIndex& operator=(const EventIndex&) = delete;

  /// Rows of JSON for the events from number `from` on, at most `count` of those that were looked
  /// at so far:
  ///   {"total": 7449, "ready": 512, "from": 500, "columns": ["entry", ...], "rows": [[500, ...]]}
  /// An event that cannot be read has its number and the reason alone.
  std::string page(std::int64_t from, std::int64_t count) const;

  /// Of the store's networks when it began.
  std::int64_t version() const { return version_; }

  /// For tests and exports: returns when all events were looked at.
  void wait() const;

 private:
  void look_at_all();
  std::string row_of(EventStore::Reader& reader, std::int64_t entry, ViewedEvent& event) const;

  const EventStore& store_;
  const std::int64_t version_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable grown_;
  std::vector<std::string> rows_;  ///< as JSON
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cosmic::view
