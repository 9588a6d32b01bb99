// Reads all there is in a file, as a pre-flight check would: tests and the fuzzer use it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/box2d_reader.hpp"
#include "data/larcv/cluster2d_reader.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/larcv/sparse2d_reader.hpp"

namespace cosmic::data::larcv {

/// Every event of a source.
inline std::vector<SparseEvent> read_events(const LarcvSource& source) {
  const auto reader = source.reader();
  std::vector<SparseEvent> events;
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    reader->read(entry, events.emplace_back());
  }
  return events;
}

/// One product of all events. Products of other types are left alone.
inline void read_product(const EventFile& file, const ProductName& product,
                         ReadWarnings& warnings) {
  const auto read_all = [&](auto reader, auto content) {
    for (std::int64_t entry = 0; entry < file.size(); ++entry) {
      reader->read(entry, content);
    }
  };
  if (product.type == kSparse2d) {
    read_all(
        std::make_unique<Sparse2dReader>(file, product.producer, PixelMeaning::charge, warnings),
        SparseImage{});
  } else if (product.type == kCluster2d) {
    read_all(std::make_unique<Cluster2dReader>(file, product.producer, warnings), ClusterPlanes{});
  } else if (product.type == kBox2d) {
    read_all(std::make_unique<Box2dReader>(file, product.producer, warnings), BoxPlanes{});
  } else if (product.type == kParticle) {
    read_all(std::make_unique<ParticleReader>(file, product.producer, warnings),
             std::vector<Particle>{});
  }
}

/// Every product that can be read.
inline void read_products(const std::filesystem::path& path, ReadWarnings& warnings) {
  const EventFile file(path, warnings);
  for (const ProductName& product : file.products()) {
    read_product(file, product, warnings);
  }
}

}  // namespace cosmic::data::larcv
