#include "data/larcv/plane_index.hpp"

#include <algorithm>
#include <cmath>

namespace cosmic::data::larcv {
namespace {

void require_grid(const ImageMetaRow& meta, std::uint64_t row, const Table& table) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::uint64_t pixels = meta.number_of_voxels[axis];
    const double size = meta.image_sizes[axis];
    const double origin = meta.origin[axis];
    COSMIC_REQUIRE(DataError, pixels >= 1 && pixels <= kMaxAxis,
                   "row " << row << " of " << table.what() << " has " << pixels
                          << " pixels on axis " << axis << " (1 to " << kMaxAxis
                          << " are sensible); " << hdf5::kDamaged);
    COSMIC_REQUIRE(DataError, std::isfinite(size) && size > 0 && std::isfinite(origin),
                   "row " << row << " of " << table.what() << " has size " << size << " and origin "
                          << origin << " on axis " << axis
                          << " (both must be finite and the size above 0); " << hdf5::kDamaged);
  }
}

}  // namespace

const Table& event_extents(const EventFile& file, const ProductName& product) {
  const Table& extents = file.table<ExtentsRow>(product, kExtentsTable);
  COSMIC_REQUIRE(DataError, extents.rows() == file.event_ids().rows(),
                 file.name() << ": " << product.type << "_" << product.producer << ": "
                             << extents.what() << " has " << extents.rows() << " rows, but "
                             << file.event_ids().what() << " has " << file.event_ids().rows()
                             << " (each has one row per event); " << hdf5::kDamaged);
  return extents;
}

void require_entry(const EventFile& file, std::int64_t entry) {
  COSMIC_REQUIRE(UserError, entry >= 0 && entry < file.size(),
                 file.name() << ": there is no event " << entry << " (the file has " << file.size()
                             << ", counted from 0); choose another");
}

PlaneIndex::PlaneIndex(const EventFile& file, const ProductName& product,
                       std::string_view plane_extents, const Table& target,
                       ChunkWorkspace& workspace, ReadWarnings& warnings)
    : target_(target),
      warnings_(warnings),
      extents_(event_extents(file, product), workspace),
      plane_extents_(file.table<IdExtentsRow>(product, plane_extents), workspace),
      metas_(file.table<ImageMetaRow>(product, kImageMetaTable), workspace) {
  const Table& planes = plane_extents_.table();
  const Table& metas = metas_.table();
  COSMIC_REQUIRE(DataError, planes.rows() == metas.rows(),
                 file.name() << ": " << product.type << "_" << product.producer << ": "
                             << planes.what() << " has " << planes.rows() << " rows, but "
                             << metas.what() << " has " << metas.rows()
                             << " (each has one row per plane); " << hdf5::kDamaged);
}

ImageMeta PlaneIndex::read_meta(std::uint64_t row, ReadPlace& place) {
  const ImageMetaRow& meta = metas_.row(row);
  const Table& table = metas_.table();
  COSMIC_REQUIRE(DataError, meta.projection_id < static_cast<std::uint64_t>(kPlanes),
                 "row " << row << " of " << table.what() << " is for plane " << meta.projection_id
                        << " (planes are 0 to " << kPlanes - 1 << "); " << hdf5::kDamaged);
  place.plane = static_cast<std::int64_t>(meta.projection_id);
  COSMIC_REQUIRE(DataError, meta.valid != 0,
                 "row " << row << " of " << table.what()
                        << " says that it is not valid (nothing is known about its pixels then); "
                        << hdf5::kDamaged);
  require_grid(meta, row, table);
  return {meta.projection_id, meta.number_of_voxels, meta.image_sizes, meta.origin};
}

std::span<const PlaneRows> PlaneIndex::find(std::int64_t entry, ReadPlace& place) {
  const RowRange rows = read_range(extents_, static_cast<std::uint64_t>(entry),
                                   plane_extents_.table(), place, warnings_);
  std::size_t count = 0;
  for (std::uint64_t row = rows.first; row < rows.end(); ++row) {
    place.plane = -1;
    PlaneRows next;
    next.meta = read_meta(row, place);
    next.plane = static_cast<std::size_t>(next.meta.projection);
    const auto known = std::span(found_).first(count);
    COSMIC_REQUIRE(DataError,
                   std::none_of(known.begin(), known.end(),
                                [&](const PlaneRows& other) { return other.plane == next.plane; }),
                   "row " << row << " of " << metas_.table().what()
                          << " is for a plane that the event has already (each comes once); "
                          << hdf5::kDamaged);
    next.rows = read_range(plane_extents_, row, target_, place, warnings_);
    const std::uint32_t id = plane_extents_.row(row).id;
    if (id != next.plane) {
      warnings_.add(WarningKind::plane_number_differs, 1, place, [&] {
        return place.text() + ": row " + std::to_string(row) + " of " +
               plane_extents_.table().what() + " has ID " + std::to_string(id);
      });
    }
    found_[count++] = next;
  }
  place.plane = -1;
  return std::span(found_).first(count);
}

ImageMeta PlaneIndex::first_meta(ReadPlace& place) {
  for (std::int64_t entry = 0; entry < size(); ++entry) {
    place.event = entry;
    const auto planes = find(entry, place);
    if (!planes.empty()) {
      return planes.front().meta;
    }
  }
  return {};
}

}  // namespace cosmic::data::larcv
