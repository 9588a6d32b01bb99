// Events for tests of whatever reads them: random pixels on small grids, and a source in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "data/event_source.hpp"

namespace cosmic::data {

inline ImageMeta grid_of(std::uint64_t rows, std::uint64_t columns) {
  ImageMeta meta;
  meta.pixels = {columns, rows};
  meta.size = {static_cast<double>(columns), static_cast<double>(rows)};
  return meta;
}

/// About `share` of the pixels, with charges like real ones.
inline SparsePlane random_plane(const ImageMeta& grid, double share, RandomStream& random) {
  SparsePlane plane;
  plane.meta = grid;
  for (std::uint64_t id = 0; id < grid.columns() * grid.rows(); ++id) {
    if (random.uniform() < share) {
      plane.ids.push_back(id);
      plane.values.push_back(static_cast<float>(random.uniform(5, 500)));
    }
  }
  return plane;
}

/// Event number `number` of a seed, with its number as id.
inline SparseEvent random_event(const ImageMeta& grid, double share, std::uint64_t seed,
                                std::int64_t number = 0) {
  RandomStream random(seed, "test event " + std::to_string(number));
  SparseEvent event;
  event.id = {1, 2, number};
  event.labelled = true;
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    event.image[plane] = random_plane(grid, share, random);
    event.image[plane].meta.projection = plane;
    event.labels[plane] = event.image[plane];
    for (float& label : event.labels[plane].values) {
      label = static_cast<float>(random.next() % 3);
    }
  }
  return event;
}

/// Events in memory. Reading `broken_entry` throws.
class MemorySource final : public EventSource {
 public:
  explicit MemorySource(std::vector<SparseEvent> events) : events_(std::move(events)) {}
  MemorySource(const ImageMeta& grid, std::int64_t count, double share = 0.02) {
    for (std::int64_t number = 0; number < count; ++number) {
      events_.push_back(random_event(grid, share, 1, number));
    }
  }

  std::int64_t broken_entry = -1;

  std::int64_t size() const override { return static_cast<std::int64_t>(events_.size()); }
  ImageMeta meta() const override { return events_.at(0).image[0].meta; }
  bool labelled() const override { return events_.at(0).labelled; }
  std::string description() const override { return "events in memory"; }
  std::unique_ptr<EventReader> reader() const override { return std::make_unique<Reader>(*this); }

  const SparseEvent& event(std::int64_t entry) const {
    return events_.at(static_cast<std::size_t>(entry));
  }

 private:
  class Reader final : public EventReader {
   public:
    explicit Reader(const MemorySource& source) : source_(source) {}
    void read(std::int64_t entry, SparseEvent& event) override {
      COSMIC_REQUIRE(DataError, entry != source_.broken_entry,
                     "entry " << entry << " is broken on purpose");
      event = source_.event(entry);
    }

   private:
    const MemorySource& source_;
  };

  std::vector<SparseEvent> events_;
};

}  // namespace cosmic::data
