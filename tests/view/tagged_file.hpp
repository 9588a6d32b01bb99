// Files of tagged events for tests of the display.
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/predictions.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::view {

enum class Predictions { none, of_stored_pixels, of_network_pixels };

/// Pixel i of a plane has these scores; both are below a half, so that the tag follows from them.
inline float cosmic_score(std::uint64_t id) {
  return static_cast<float>(id % 3 == 1 ? 0.75 : 0.125);
}
inline float neutrino_score(std::uint64_t id) {
  return static_cast<float>(id % 3 == 2 ? 0.875 : 0.0625);
}

/// The same pixels with another value each.
template <class Value>
data::SparseImage with_values(data::SparseImage image, const Value& value_of) {
  for (data::SparsePlane& plane : image) {
    for (std::size_t i = 0; i < plane.ids.size(); ++i) {
      plane.values[i] = value_of(plane.ids[i]);
    }
  }
  return image;
}

/// Pixels of a grid that was halved once: all blocks that have one.
inline data::SparseImage halved(const data::SparseImage& image) {
  data::SparseImage result;
  for (std::size_t plane = 0; plane < image.size(); ++plane) {
    const data::SparsePlane& from = image[plane];
    data::SparsePlane& to = result[plane];
    to.meta = from.meta;
    to.meta.pixels = {from.meta.columns() / 2, from.meta.rows() / 2};
    for (const std::uint64_t id : from.ids) {
      to.ids.push_back(id / from.meta.rows() / 2 * to.meta.rows() + id % from.meta.rows() / 2);
    }
    std::sort(to.ids.begin(), to.ids.end());
    to.ids.erase(std::unique(to.ids.begin(), to.ids.end()), to.ids.end());
    to.values.assign(to.ids.size(), 0);
  }
  return result;
}

/// Event `number` of every such file, of 64 wires and 32 ticks.
inline data::SparseEvent viewed_event(std::int64_t number) {
  return data::random_event(data::grid_of(32, 64), 0.1, 5, number);
}

/// `first` is the number of the first event: files of the same numbers have the same events.
inline void write_events(const std::filesystem::path& path, std::int64_t events,
                         Predictions predictions, std::int64_t first = 0) {
  data::larcv::EventFileWriter writer(path);
  for (std::int64_t i = 0; i < events; ++i) {
    const data::SparseEvent event = viewed_event(first + i);
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    writer.write_sparse("sbnd_cosmicseg", event.labels);
    data::Particle neutrino;
    neutrino.pdg = 14;
    neutrino.current_type = 0;
    neutrino.initial_energy = 1.5;
    const std::vector<data::Particle> particles{neutrino};
    writer.write_particles("sbndneutrino", particles);
    if (predictions == Predictions::of_stored_pixels) {
      const data::SparseImage cosmic = with_values(event.image, cosmic_score);
      const data::SparseImage neutrino_scores = with_values(event.image, neutrino_score);
      writer.write_sparse(data::larcv::kPixelTag, data::larcv::tags_of(cosmic, neutrino_scores));
      writer.write_sparse(data::larcv::kPixelCosmic, cosmic);
      writer.write_sparse(data::larcv::kPixelNeutrino, neutrino_scores);
    } else if (predictions == Predictions::of_network_pixels) {
      const data::SparseImage blocks = halved(event.image);
      writer.write_sparse(data::larcv::kCosmicPrediction, with_values(blocks, cosmic_score));
      writer.write_sparse(data::larcv::kNeutrinoPrediction, with_values(blocks, neutrino_score));
    }
  }
  writer.commit();
}

}  // namespace cosmic::view
