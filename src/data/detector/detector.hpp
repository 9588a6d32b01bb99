// A detector that makes events: cosmic rays and one neutrino in liquid argon, seen by three planes
// of wires. Every event is made in space first, so that the planes tell one story. The physics is
// simplified and the numbers are tuned to a real sample; docs/detector.md says what and how well.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "data/detector/canvas.hpp"
#include "data/detector/conditions.hpp"
#include "data/detector/ionization.hpp"
#include "data/detector/neutrino.hpp"
#include "data/detector/readout.hpp"
#include "data/event.hpp"

namespace cosmic::data::detector {

/// An event with everything that is known about it.
struct SimulatedEvent {
  SparseEvent event;
  std::vector<Particle> particles;               ///< the neutrino, then what came out of it
  std::array<ClusterPlane, kPlanes> vertex;      ///< the 3 x 3 pixels around the vertex, as 1.0
  std::array<BoxPlane, kPlanes> neutrino_boxes;  ///< one box, whose centroid is the vertex
};

/// Geometry, physics and conditions: the same for all events, used by any number of threads.
class Detector {
 public:
  explicit Detector(const Conditions& conditions = {});

  const Conditions& conditions() const { return conditions_; }
  const Readout& readout() const { return readout_; }

 private:
  Conditions conditions_;
  Readout readout_;
};

/// One thread's way to make events; it keeps its buffers from event to event.
class Simulator {
 public:
  /// The detector must outlive it.
  Simulator(const Detector& detector, std::uint64_t seed);

  /// Replaces `result` by event number `index`, which depends on the seed and the number only,
  /// whoever asks and in whatever order. Reuses its memory.
  void simulate(std::int64_t index, SimulatedEvent& result);

 private:
  void make_neutrino(RandomStream& random, SimulatedEvent& result);
  void make_cosmic_rays(RandomStream& random);

  const Detector& detector_;
  std::uint64_t seed_;
  Ionization ionization_;
  Readout::Workspace workspace_;
};

}  // namespace cosmic::data::detector
