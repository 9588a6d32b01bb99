// The tables of each type of product, and how an event's content becomes rows of them. Rows of all
// tables point at each other by number, so a product is checked whole before its first row is
// appended. Internal, as hdf5_handle.hpp is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/table_writer.hpp"

namespace cosmic::data::larcv {

/// The tables of `product`, in the order in which they are written.
using Tables = std::vector<TableWriter*>;

class SparseWriter {
 public:
  SparseWriter(const Hdf5Group& group, int level);
  /// Planes whose grid has no pixels were not stored and are left out. Throws DataError, starting
  /// with `where`, for ids that are not ascending or beyond the grid.
  void append(const SparseImage& image, const std::string& where);
  Tables tables() { return {&extents_, &plane_extents_, &meta_, &voxels_}; }

 private:
  TableWriter extents_;
  TableWriter plane_extents_;
  TableWriter meta_;
  TableWriter voxels_;
  std::vector<VoxelRow> rows_;
};

class ClusterWriter {
 public:
  ClusterWriter(const Hdf5Group& group, int level);
  void append(std::span<const ClusterPlane> planes, const std::string& where);
  Tables tables() { return {&extents_, &plane_extents_, &meta_, &cluster_extents_, &voxels_}; }

 private:
  TableWriter extents_;
  TableWriter plane_extents_;
  TableWriter meta_;
  TableWriter cluster_extents_;
  TableWriter voxels_;
  std::vector<VoxelRow> rows_;
};

class ParticleWriter {
 public:
  ParticleWriter(const Hdf5Group& group, int level);
  void append(std::span<const Particle> particles, const std::string& where);
  Tables tables() { return {&extents_, &particles_}; }

 private:
  TableWriter extents_;
  TableWriter particles_;
};

class BoxWriter {
 public:
  BoxWriter(const Hdf5Group& group, int level);
  void append(std::span<const BoxPlane> planes, const std::string& where);
  Tables tables() { return {&extents_, &plane_extents_, &meta_, &boxes_}; }

 private:
  TableWriter extents_;
  TableWriter plane_extents_;
  TableWriter meta_;
  TableWriter boxes_;
};

}  // namespace cosmic::data::larcv
