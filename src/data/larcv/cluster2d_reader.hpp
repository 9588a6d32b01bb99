// Reads `cluster2d` products: the pixels of each particle, or of each vertex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "data/event.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

/// One of each projection id; a plane that was not stored has no clusters.
using ClusterPlanes = std::array<ClusterPlane, static_cast<std::size_t>(kPlanes)>;

/// Belongs to one thread; the file and the warnings outlive it.
class Cluster2dReader {
 public:
  Cluster2dReader(const EventFile& file, const std::string& producer, ReadWarnings& warnings);
  ~Cluster2dReader();
  Cluster2dReader(const Cluster2dReader&) = delete;
  Cluster2dReader& operator=(const Cluster2dReader&) = delete;

  /// Replaces `planes` by those of an event. Throws DataError with the file, product, event and
  /// plane.
  void read(std::int64_t entry, ClusterPlanes& planes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cosmic::data::larcv
