#include "view/event_index.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "view/event_message.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;

/// Four digits are more than a list shows, and rows stay short.
json rounded(double value) {
  return std::isfinite(value) ? json(std::round(value * 1e4) / 1e4) : json();
}

}  // namespace

std::string index_columns(const EventStore& store) {
  json columns{"entry",  "run",      "subrun",      "event", "pixels",
               "cosmic", "neutrino", "interaction", "energy"};
  for (std::size_t network = 0; network < store.networks().size(); ++network) {
    const std::string suffix = network == 0 ? "" : "_" + std::to_string(network + 1);
    for (const char* const name : {"iou", "cosmic_iou", "missed", "false", "tagged"}) {
      columns.push_back(name + suffix);
    }
  }
  return columns.dump();
}

std::string index_row(std::int64_t entry, const EventSummary& event) {
  json row{entry,
           event.id.run,
           event.id.subrun,
           event.id.event,
           event.pixels,
           event.cosmic,
           event.neutrino,
           interaction_code(event.truth),
           event.truth ? rounded(event.truth->energy) : json()};
  for (const TagSummary& network : event.networks) {
    row.push_back(rounded(network.neutrino_iou));
    row.push_back(rounded(network.cosmic_iou));
    row.push_back(network.missed);
    row.push_back(network.wrong);
    row.push_back(network.tagged);
  }
  return row.dump();
}

EventIndex::EventIndex(const EventStore& store) : store_(store), version_(store.version()) {
  thread_ = std::thread([this] { look_at_all(); });
}

EventIndex::~EventIndex() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  thread_.join();
}

std::string EventIndex::row_of(EventStore::Reader& reader, std::int64_t entry,
                               ViewedEvent& event) const {
  try {
    reader.read(entry, event);
    return index_row(entry, summary_of(event));
  } catch (const Error& error) {
    return json{entry, error.what()}.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

void EventIndex::look_at_all() {
  EventStore::Reader reader(store_);
  ViewedEvent event;
  for (std::int64_t entry = 0; entry < store_.size(); ++entry) {
    std::string row = row_of(reader, entry, event);
    const std::lock_guard lock(mutex_);
    if (stop_) {
      return;
    }
    rows_.push_back(std::move(row));
    grown_.notify_all();
  }
}

std::string EventIndex::page(std::int64_t from, std::int64_t count) const {
  const std::lock_guard lock(mutex_);
  const auto ready = static_cast<std::int64_t>(rows_.size());
  const std::int64_t first = std::clamp<std::int64_t>(from, 0, ready);
  const std::int64_t last = first + std::clamp<std::int64_t>(count, 0, ready - first);
  std::string text = "{\"total\":" + std::to_string(store_.size()) +
                     ",\"ready\":" + std::to_string(ready) + ",\"from\":" + std::to_string(first) +
                     ",\"columns\":" + index_columns(store_) + ",\"rows\":[";
  for (std::int64_t row = first; row < last; ++row) {
    text += row == first ? "" : ",";
    text += rows_[static_cast<std::size_t>(row)];
  }
  return text + "]}";
}

void EventIndex::wait() const {
  std::unique_lock lock(mutex_);
  grown_.wait(lock, [&] { return static_cast<std::int64_t>(rows_.size()) == store_.size(); });
}

}  // namespace cosmic::view
