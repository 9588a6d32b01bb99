// What tests write into larcv3 files: one event with every type of product.
#pragma once

#include <string>
#include <vector>

#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data::larcv {

struct WrittenEvent {
  SparseEvent pixels;
  std::vector<ClusterPlane> clusters;
  std::vector<Particle> particles;
  std::vector<BoxPlane> boxes;
};

inline Particle some_particle(std::int64_t number) {
  Particle particle;
  particle.id = static_cast<std::uint16_t>(number);
  particle.pdg = number % 2 == 0 ? 14 : -13;
  particle.current_type = 1;
  particle.track_id = static_cast<std::uint32_t>(100 + number);
  particle.momentum = {0.1, 0.2, 0.3};
  particle.vertex = {1, 2, 3, 4};
  particle.end_point = {5, 6, 7, 8};
  particle.ancestor_vertex = {9, 10, 11, 12};
  particle.initial_energy = 0.75;
  particle.process = "primary";
  return particle;
}

/// Event `number` has some pixels, a cluster for every ten of them, `number` particles and a box on
/// each plane.
inline WrittenEvent some_event(std::int64_t number, const ImageMeta& grid = grid_of(64, 96),
                               double share = 0.1) {
  WrittenEvent event;
  event.pixels = random_event(grid, share, 7, number);
  for (const SparsePlane& plane : event.pixels.image) {
    ClusterPlane clusters{plane.meta, {}};
    for (std::size_t i = 0; i < plane.ids.size(); ++i) {
      if (i % 10 == 0) {
        clusters.clusters.push_back({static_cast<std::uint32_t>(i / 10), {}, {}});
      }
      clusters.clusters.back().ids.push_back(plane.ids[i]);
      clusters.clusters.back().values.push_back(plane.values[i]);
    }
    event.clusters.push_back(clusters);
    event.boxes.push_back({plane.meta, {Box{{10.5, 20.5}, {1.5, 1.5}}}});
  }
  for (std::int64_t i = 0; i < number; ++i) {
    event.particles.push_back(some_particle(i));
  }
  return event;
}

inline void write(EventFileWriter& writer, const WrittenEvent& event) {
  writer.begin_event(event.pixels.id);
  writer.write_sparse("sbndwire", event.pixels.image);
  writer.write_sparse("sbnd_cosmicseg", event.pixels.labels);
  writer.write_clusters("sbndsegmerged", event.clusters);
  writer.write_particles("sbndneutrino", event.particles);
  writer.write_boxes("bbox_neutrino", event.boxes);
}

}  // namespace cosmic::data::larcv
