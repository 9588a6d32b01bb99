#include "data/detector/detector.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "data/detector/cosmic_rays.hpp"
#include "data/detector/species.hpp"

namespace cosmic::data::detector {
namespace {

/// What a neutrino leaves at least, in MeV. The sample was selected for events with one that can be
/// seen; its faintest has 305 pixels on a plane.
constexpr double kLeastVisible = 40;

constexpr double kGeV = 1e-3;  // of a MeV
constexpr std::uint16_t kNoIndex = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint32_t kNoTrack = std::numeric_limits<std::uint32_t>::max();
/// The shape that every particle in the sample has.
constexpr std::int32_t kUnknownShape = 2;

const Conditions& checked(const Conditions& conditions) {
  COSMIC_REQUIRE(UserError, conditions.cosmic_flux >= 0 && conditions.cosmic_flux <= 10,
                 "the cosmic flux is " << conditions.cosmic_flux
                                       << " times the sky's (it must be 0 to 10); leave it at 1");
  COSMIC_REQUIRE(UserError, conditions.electron_lifetime > 0,
                 "the electron lifetime is " << conditions.electron_lifetime
                                             << " us (it must be positive); 3000 is typical");
  COSMIC_REQUIRE(UserError, conditions.dead_wires >= 0 && conditions.dead_wires <= 1,
                 "the share of dead wires is " << conditions.dead_wires
                                               << " (it must be 0 to 1); 0.001 is typical");
  COSMIC_REQUIRE(UserError, conditions.threshold >= 3,
                 "the threshold is " << conditions.threshold
                                     << " (below 3, noise would fill the image); 5 is typical");
  return conditions;
}

SpaceTime at(Vec3 p, double time) {
  return {p.x, p.y, p.z, time};
}

/// A row of the particle product as the sample has it, where nothing else is known.
Particle primary_row(std::size_t row, Vec3 vertex, double time) {
  Particle particle;
  particle.id = static_cast<std::uint16_t>(row);
  particle.mcst_index = kNoIndex;
  particle.mct_index = kNoIndex;
  particle.shape = kUnknownShape;
  particle.track_id = static_cast<std::uint32_t>(row);
  particle.vertex = at(vertex, time);
  particle.process = "primary";
  particle.parent_track_id = kNoTrack;
  particle.ancestor_track_id = kNoTrack;
  return particle;
}

std::array<double, 3> momentum(Vec3 direction, double kinetic, double mass) {
  const double p = std::sqrt(kinetic * (kinetic + 2 * mass)) * kGeV;
  return {direction.x * p, direction.y * p, direction.z * p};
}

Particle neutrino_row(const Interaction& interaction) {
  Particle particle = primary_row(0, interaction.vertex, interaction.time);
  particle.pdg = interaction.neutrino_pdg;
  particle.current_type = static_cast<std::int16_t>(interaction.current);
  particle.interaction_type = interaction.type;
  particle.momentum = momentum(interaction.direction, interaction.energy, 0);
  particle.initial_energy = interaction.energy * kGeV;
  particle.distance_travelled = -1;
  return particle;
}

Particle primary_row(std::size_t row, const Interaction& interaction, const MovingParticle& primary,
                     const Flight& flight, double deposited) {
  const double mass = pdg::mass_of(primary.pdg);
  Particle particle = primary_row(row, interaction.vertex, interaction.time);
  particle.pdg = primary.pdg;
  particle.parent_track_id = 0;
  particle.momentum = momentum(primary.direction, primary.kinetic_energy, mass);
  particle.initial_energy = (primary.kinetic_energy + mass) * kGeV;
  particle.deposited_energy = deposited * kGeV;
  particle.distance_travelled = flight.length;
  particle.first_step = particle.vertex;
  particle.end_point = at(flight.end, interaction.time);
  particle.last_step = particle.end_point;
  return particle;
}

/// Where the vertex is on a plane, as a cluster and as a box.
void mark_vertex(Vec3 vertex, std::size_t plane, ClusterPlane& clusters, BoxPlane& boxes) {
  // The image is aligned to the trigger, whenever in the spill the neutrino came.
  constexpr double kTime = 0;
  const ImagePoint place = project(plane, vertex, kTime, volume_of(vertex.x));
  clusters.meta = meta_of(plane);
  clusters.clusters.resize(1);
  Cluster& cluster = clusters.clusters.front();
  cluster.id = 0;
  cluster.ids.clear();
  const auto column = static_cast<std::int64_t>(place.column);
  const auto row = static_cast<std::int64_t>(place.row);
  for (std::int64_t c = column - 1; c <= column + 1; ++c) {
    for (std::int64_t r = row - 1; r <= row + 1; ++r) {
      cluster.ids.push_back(Canvas::id_of(c, r));
    }
  }
  cluster.values.assign(cluster.ids.size(), 1.0F);
  constexpr double kHalfOfThreePixels = 1.5;
  boxes.meta = clusters.meta;
  boxes.boxes.assign(1, Box{.centroid = {place.column, place.row},
                            .half_length = {kHalfOfThreePixels, kHalfOfThreePixels}});
}

}  // namespace

Detector::Detector(const Conditions& conditions)
    : conditions_(checked(conditions)), readout_(conditions_) {}

Simulator::Simulator(const Detector& detector, std::uint64_t seed)
    : detector_(detector), seed_(seed) {}

void Simulator::make_neutrino(RandomStream& random, SimulatedEvent& result) {
  Interaction interaction;
  do {
    interaction = draw_interaction(random);
    result.particles.assign(1, neutrino_row(interaction));
    ionization_.clear();
    for (const MovingParticle& primary : interaction.primaries) {
      const double before = ionization_.energy();
      ionization_.begin_trail(Label::neutrino, 0);
      const Flight flight = Transport(random, ionization_).run(primary);
      result.particles.push_back(primary_row(result.particles.size(), interaction, primary, flight,
                                             ionization_.energy() - before));
    }
  } while (ionization_.energy() < kLeastVisible);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    mark_vertex(interaction.vertex, plane, result.vertex[plane], result.neutrino_boxes[plane]);
  }
}

void Simulator::make_cosmic_rays(RandomStream& random) {
  for (const CosmicRay& ray : draw_cosmic_rays(random, detector_.conditions().cosmic_flux)) {
    ionization_.begin_trail(Label::cosmic, ray.time);
    Transport(random, ionization_).run(ray.particle);
  }
}

void Simulator::simulate(std::int64_t index, SimulatedEvent& result) {
  const std::string number = std::to_string(index);
  RandomStream neutrino(seed_, "neutrino " + number);
  make_neutrino(neutrino, result);
  RandomStream sky(seed_, "cosmic rays " + number);
  make_cosmic_rays(sky);
  result.event.id = {.run = 1, .subrun = 0, .event = index};
  result.event.labelled = true;
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    RandomStream electronics(seed_, "plane " + std::to_string(plane) + " of " + number);
    detector_.readout().read_out(ionization_, plane, electronics, workspace_,
                                 result.event.image[plane], result.event.labels[plane]);
  }
}

}  // namespace cosmic::data::detector
