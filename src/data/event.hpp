// An event as it is stored: three wire-plane images of which only the pixels with charge are kept,
// and what is known about the particles behind them. Files, the detector simulation and loaders
// speak these types; a network sees them as dense images (dense_image.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cosmic::data {

inline constexpr std::int64_t kPlanes = 3;

/// What a pixel belongs to. Where particles overlap, the neutrino wins.
enum class Label : std::uint8_t { background, cosmic, neutrino };

struct EventId {
  std::int64_t run = -1;
  std::int64_t subrun = -1;
  std::int64_t event = -1;

  friend bool operator==(const EventId&, const EventId&) = default;
};

/// The grid of one plane. Axis 0 runs over wires (columns), axis 1 over drift time (rows).
struct ImageMeta {
  std::uint64_t projection = 0;           ///< the plane's number
  std::array<std::uint64_t, 2> pixels{};  ///< columns, rows
  std::array<double, 2> size{};           ///< the same extents in physical units
  std::array<double, 2> origin{};

  std::uint64_t columns() const { return pixels[0]; }
  std::uint64_t rows() const { return pixels[1]; }

  friend bool operator==(const ImageMeta&, const ImageMeta&) = default;
};

/// The stored pixels of one plane: id = column * rows + row, strictly ascending.
struct SparsePlane {
  ImageMeta meta;
  std::vector<std::uint64_t> ids;
  std::vector<float> values;

  /// Empties it and keeps the memory, for the next event.
  void clear() {
    meta = {};
    ids.clear();
    values.clear();
  }
};

/// One plane of each projection id; a plane that was not stored has no pixels.
using SparseImage = std::array<SparsePlane, static_cast<std::size_t>(kPlanes)>;

/// What training and inference read of an event.
struct SparseEvent {
  EventId id;
  SparseImage image;
  SparseImage labels;  ///< the ids of the image, with a Label as value; empty without labels
  bool labelled = false;
  /// Pixels of the image for which no label was stored; they count as background.
  std::int64_t unlabelled_pixels = 0;
};

struct SpaceTime {
  double x = 0;
  double y = 0;
  double z = 0;
  double t = 0;
};

/// A row of larcv3's `particle` product, in its units (GeV, cm, ns).
struct Particle {
  std::uint16_t id = 0;
  std::uint16_t mcst_index = 0;
  std::uint16_t mct_index = 0;
  std::int32_t shape = 0;
  std::int16_t current_type = -1;  ///< of a neutrino: 0 charged, 1 neutral
  std::int16_t interaction_type = -1;
  std::uint32_t track_id = 0;
  std::int32_t pdg = 0;
  std::array<double, 3> momentum{};
  SpaceTime vertex;
  SpaceTime end_point;
  SpaceTime first_step;
  SpaceTime last_step;
  double distance_travelled = 0;
  double initial_energy = 0;
  double deposited_energy = 0;
  std::string process;  ///< at most 63 bytes are stored
  std::uint32_t parent_track_id = 0;
  std::int32_t parent_pdg = 0;
  SpaceTime parent_vertex;
  std::uint32_t ancestor_track_id = 0;
  std::int32_t ancestor_pdg = 0;
  SpaceTime ancestor_vertex;
};

/// The pixels of one particle, or of another thing with a number, on one plane.
struct Cluster {
  std::uint32_t id = 0;
  std::vector<std::uint64_t> ids;
  std::vector<float> values;
};

struct ClusterPlane {
  ImageMeta meta;
  std::vector<Cluster> clusters;
};

/// A box on one plane, axis 0 over wires and axis 1 over time, in the meta's units.
struct Box {
  std::array<double, 2> centroid{};
  std::array<double, 2> half_length{};
  std::array<double, 4> rotation{1, 0, 0, 1};  ///< a 2x2 matrix, row by row
};

struct BoxPlane {
  ImageMeta meta;
  std::vector<Box> boxes;
};

}  // namespace cosmic::data
