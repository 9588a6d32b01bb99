#include "data/larcv/product_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cosmic::data::larcv {
namespace {

std::string plane_text(const ImageMeta& meta) {
  return ", plane " + std::to_string(meta.projection);
}

/// `n` of an extents row has 32 bits.
std::uint32_t row_count(std::size_t count, const std::string& where) {
  COSMIC_REQUIRE(
      DataError, count <= std::numeric_limits<std::uint32_t>::max(),
      where << ": has " << count << " rows (larcv3 counts them in 32 bits); split the event");
  return static_cast<std::uint32_t>(count);
}

/// Only grids that a reader accepts.
void check_meta(const ImageMeta& meta, const std::string& where) {
  COSMIC_REQUIRE(DataError, meta.projection < static_cast<std::uint64_t>(kPlanes),
                 where << ": there are " << kPlanes << " planes, numbered from 0");
  for (std::size_t axis = 0; axis < meta.pixels.size(); ++axis) {
    COSMIC_REQUIRE(DataError, meta.pixels[axis] >= 1 && meta.pixels[axis] <= kMaxAxis,
                   where << ": has a grid of " << meta.columns() << " x " << meta.rows()
                         << " pixels (1 to " << kMaxAxis
                         << " are sensible on an axis); set the plane's meta");
    COSMIC_REQUIRE(
        DataError,
        std::isfinite(meta.size[axis]) && meta.size[axis] > 0 && std::isfinite(meta.origin[axis]),
        where << ": has the size " << meta.size[axis] << " and the origin " << meta.origin[axis]
              << " on axis " << axis
              << " (both must be finite and the size above 0); set the plane's meta");
  }
}

void check_pixels(std::span<const std::uint64_t> ids, std::span<const float> values,
                  const ImageMeta& meta, const std::string& where) {
  COSMIC_REQUIRE(DataError, ids.size() == values.size(),
                 where << ": has " << ids.size() << " pixel ids but " << values.size()
                       << " values (each pixel needs both)");
  row_count(ids.size(), where);
  const auto disorder = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
  COSMIC_REQUIRE(DataError, disorder == ids.end(),
                 where << ": pixel id " << *disorder << " is followed by " << *(disorder + 1)
                       << " (readers take ids for ascending and unique); sort the pixels");
  const std::uint64_t pixels = meta.columns() * meta.rows();
  COSMIC_REQUIRE(DataError, ids.empty() || ids.back() < pixels,
                 where << ": pixel id " << ids.back() << " is beyond the grid of " << meta.columns()
                       << " x " << meta.rows() << " pixels (larcv3 would wrap it around)");
  const auto not_finite = std::find_if_not(values.begin(), values.end(),
                                           [](float value) { return std::isfinite(value); });
  COSMIC_REQUIRE(DataError, not_finite == values.end(),
                 where << ": pixel id "
                       << ids[static_cast<std::size_t>(not_finite - values.begin())]
                       << " has the value " << *not_finite << " (readers drop it)");
}

ImageMetaRow meta_row(const ImageMeta& meta) {
  return {.valid = 1,
          .projection_id = meta.projection,
          .image_sizes = meta.size,
          .number_of_voxels = meta.pixels,
          .origin = meta.origin};
}

IdExtentsRow plane_row(std::uint64_t first, std::size_t count, const ImageMeta& meta) {
  return {first, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(meta.projection)};
}

void append_voxels(TableWriter& table, std::span<const std::uint64_t> ids,
                   std::span<const float> values, std::vector<VoxelRow>& rows) {
  rows.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    rows[i] = {ids[i], values[i]};
  }
  table.append(std::span<const VoxelRow>(rows));
}

PointRow point_row(const SpaceTime& point) {
  return {point.x, point.y, point.z, point.t};
}

ParticleRow particle_row(const Particle& particle) {
  ParticleRow row{.id = particle.id,
                  .mcst_index = particle.mcst_index,
                  .mct_index = particle.mct_index,
                  .shape = particle.shape,
                  .current_type = particle.current_type,
                  .interaction_type = particle.interaction_type,
                  .trackid = particle.track_id,
                  .pdg = particle.pdg,
                  .px = particle.momentum[0],
                  .py = particle.momentum[1],
                  .pz = particle.momentum[2],
                  .vtx = point_row(particle.vertex),
                  .end_pt = point_row(particle.end_point),
                  .first_step = point_row(particle.first_step),
                  .last_step = point_row(particle.last_step),
                  .dist_travel = particle.distance_travelled,
                  .energy_init = particle.initial_energy,
                  .energy_deposit = particle.deposited_energy,
                  .process = {},
                  .parent_trackid = particle.parent_track_id,
                  .parent_pdg = particle.parent_pdg,
                  .parent_vtx = point_row(particle.parent_vertex),
                  .ancestor_trackid = particle.ancestor_track_id,
                  .ancestor_pdg = particle.ancestor_pdg,
                  .ancestor_vtx = point_row(particle.ancestor_vertex)};
  const std::size_t length = std::min(particle.process.size(), kProcessBytes - 1);
  std::copy_n(particle.process.begin(), length, row.process.begin());
  return row;
}

}  // namespace

SparseWriter::SparseWriter(const Hdf5Group& group, int level)
    : extents_(group, kExtentsTable, record_type<ExtentsRow>(), kImageExtentsChunk, level),
      plane_extents_(group, kVoxelExtentsTable, record_type<IdExtentsRow>(), kPlaneExtentsChunk,
                     level),
      meta_(group, kImageMetaTable, record_type<ImageMetaRow>(), kImageMetaChunk, level),
      voxels_(group, kVoxelsTable, record_type<VoxelRow>(), kVoxelsChunk, level) {}

void SparseWriter::append(const SparseImage& image, const std::string& where) {
  std::vector<const SparsePlane*> stored;
  for (std::size_t number = 0; number < image.size(); ++number) {
    const SparsePlane& plane = image[number];
    const std::string here = where + ", plane " + std::to_string(number);
    if (plane.meta.pixels == ImageMeta().pixels && plane.ids.empty()) {
      continue;
    }
    check_meta(plane.meta, here);
    COSMIC_REQUIRE(DataError, plane.meta.projection == number,
                   here << ": its meta says projection " << plane.meta.projection
                        << " (planes are found by that number); set the plane's meta");
    check_pixels(plane.ids, plane.values, plane.meta, here);
    stored.push_back(&plane);
  }
  extents_.append(ExtentsRow{plane_extents_.rows(), row_count(stored.size(), where)});
  for (const SparsePlane* plane : stored) {
    plane_extents_.append(plane_row(voxels_.rows(), plane->ids.size(), plane->meta));
    meta_.append(meta_row(plane->meta));
    append_voxels(voxels_, plane->ids, plane->values, rows_);
  }
}

ClusterWriter::ClusterWriter(const Hdf5Group& group, int level)
    : extents_(group, kExtentsTable, record_type<ExtentsRow>(), kImageExtentsChunk, level),
      plane_extents_(group, kProjectionExtentsTable, record_type<IdExtentsRow>(),
                     kPlaneExtentsChunk, level),
      meta_(group, kImageMetaTable, record_type<ImageMetaRow>(), kImageMetaChunk, level),
      cluster_extents_(group, kClusterExtentsTable, record_type<IdExtentsRow>(), kPlaneExtentsChunk,
                       level),
      voxels_(group, kVoxelsTable, record_type<VoxelRow>(), kVoxelsChunk, level) {}

void ClusterWriter::append(std::span<const ClusterPlane> planes, const std::string& where) {
  for (const ClusterPlane& plane : planes) {
    const std::string here = where + plane_text(plane.meta);
    check_meta(plane.meta, here);
    row_count(plane.clusters.size(), here);
    for (const Cluster& cluster : plane.clusters) {
      check_pixels(cluster.ids, cluster.values, plane.meta, here);
    }
  }
  extents_.append(ExtentsRow{plane_extents_.rows(), row_count(planes.size(), where)});
  for (const ClusterPlane& plane : planes) {
    plane_extents_.append(plane_row(cluster_extents_.rows(), plane.clusters.size(), plane.meta));
    meta_.append(meta_row(plane.meta));
    for (const Cluster& cluster : plane.clusters) {
      cluster_extents_.append(
          IdExtentsRow{voxels_.rows(), static_cast<std::uint32_t>(cluster.ids.size()), cluster.id});
      append_voxels(voxels_, cluster.ids, cluster.values, rows_);
    }
  }
}

ParticleWriter::ParticleWriter(const Hdf5Group& group, int level)
    : extents_(group, kExtentsTable, record_type<ExtentsRow>(), kParticleExtentsChunk, level),
      particles_(group, kParticlesTable, record_type<ParticleRow>(), kParticlesChunk, level) {}

void ParticleWriter::append(std::span<const Particle> particles, const std::string& where) {
  extents_.append(ExtentsRow{particles_.rows(), row_count(particles.size(), where)});
  for (const Particle& particle : particles) {
    particles_.append(particle_row(particle));
  }
}

BoxWriter::BoxWriter(const Hdf5Group& group, int level)
    : extents_(group, kExtentsTable, record_type<ExtentsRow>(), kBoxEventExtentsChunk, level),
      plane_extents_(group, kBoxExtentsTable, record_type<IdExtentsRow>(), kBoxExtentsChunk, level),
      meta_(group, kImageMetaTable, record_type<ImageMetaRow>(), kImageMetaChunk, level),
      boxes_(group, kBoxesTable, record_type<BoxRow>(), kBoxesChunk, level) {}

void BoxWriter::append(std::span<const BoxPlane> planes, const std::string& where) {
  for (const BoxPlane& plane : planes) {
    const std::string here = where + plane_text(plane.meta);
    check_meta(plane.meta, here);
    row_count(plane.boxes.size(), here);
  }
  extents_.append(ExtentsRow{plane_extents_.rows(), row_count(planes.size(), where)});
  for (const BoxPlane& plane : planes) {
    plane_extents_.append(plane_row(boxes_.rows(), plane.boxes.size(), plane.meta));
    meta_.append(meta_row(plane.meta));
    for (const Box& box : plane.boxes) {
      boxes_.append(BoxRow{box.centroid, box.half_length, box.rotation});
    }
  }
}

}  // namespace cosmic::data::larcv
