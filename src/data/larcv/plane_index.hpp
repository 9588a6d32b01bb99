// Which planes an event has in a product, on which grid, and where their rows are: the part of
// larcv3's index that sparse2d, cluster2d and bbox2d share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "data/event.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/extents.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

struct PlaneRows {
  std::size_t plane = 0;  ///< the projection id, 0 to 2
  ImageMeta meta;
  RowRange rows;
};

/// Belongs to one thread.
class PlaneIndex {
 public:
  /// `plane_extents` is the table with one row per plane, whose ranges lie in `target`. Throws
  /// DataError if tables that go together have different lengths.
  PlaneIndex(const EventFile& file, const ProductName& product, std::string_view plane_extents,
             const Table& target, ChunkWorkspace& workspace, ReadWarnings& warnings);

  std::int64_t size() const { return static_cast<std::int64_t>(extents_.table().rows()); }

  /// The planes of an event in the order of the file, each at most once. What is returned is valid
  /// until the next call. `place` is moved along.
  std::span<const PlaneRows> find(std::int64_t entry, ReadPlace& place);

  /// The grid of the first plane of the first event that has one; nothing stored gives an empty
  /// grid.
  ImageMeta first_meta(ReadPlace& place);

 private:
  /// Row `row` of the meta, checked.
  ImageMeta read_meta(std::uint64_t row, ReadPlace& place);

  const Table& target_;
  ReadWarnings& warnings_;
  TableReader<ExtentsRow> extents_;
  TableReader<IdExtentsRow> plane_extents_;
  TableReader<ImageMetaRow> metas_;
  std::array<PlaneRows, static_cast<std::size_t>(kPlanes)> found_;
};

/// The extents of a product; there must be one row per event.
const Table& event_extents(const EventFile& file, const ProductName& product);

/// Throws UserError if there is no such event.
void require_entry(const EventFile& file, std::int64_t entry);

/// Calls read_plane(rows) for each plane that an event has. Errors about data say where they
/// happened: `place` is moved along.
template <class ReadPlane>
void each_plane(const EventFile& file, std::int64_t entry, PlaneIndex& index, ReadPlace& place,
                const ReadPlane& read_plane) {
  require_entry(file, entry);
  place.event = entry;
  place.plane = -1;
  at_place(place, [&] {
    for (const PlaneRows& found : index.find(entry, place)) {
      place.plane = static_cast<std::int64_t>(found.plane);
      read_plane(found);
    }
  });
}

}  // namespace cosmic::data::larcv
