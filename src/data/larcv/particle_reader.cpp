#include "data/larcv/particle_reader.hpp"

#include <algorithm>
#include <cmath>

#include "data/larcv/plane_index.hpp"

namespace cosmic::data::larcv {
namespace {

SpaceTime point_of(const PointRow& row) {
  return {row.x, row.y, row.z, row.t};
}

Particle particle_of(const ParticleRow& row) {
  Particle particle;
  particle.id = row.id;
  particle.mcst_index = row.mcst_index;
  particle.mct_index = row.mct_index;
  particle.shape = row.shape;
  particle.current_type = row.current_type;
  particle.interaction_type = row.interaction_type;
  particle.track_id = row.trackid;
  particle.pdg = row.pdg;
  particle.momentum = {row.px, row.py, row.pz};
  particle.vertex = point_of(row.vtx);
  particle.end_point = point_of(row.end_pt);
  particle.first_step = point_of(row.first_step);
  particle.last_step = point_of(row.last_step);
  particle.distance_travelled = row.dist_travel;
  particle.initial_energy = row.energy_init;
  particle.deposited_energy = row.energy_deposit;
  particle.process.assign(row.process.begin(),
                          std::find(row.process.begin(), row.process.end() - 1, '\0'));
  particle.parent_track_id = row.parent_trackid;
  particle.parent_pdg = row.parent_pdg;
  particle.parent_vertex = point_of(row.parent_vtx);
  particle.ancestor_track_id = row.ancestor_trackid;
  particle.ancestor_pdg = row.ancestor_pdg;
  particle.ancestor_vertex = point_of(row.ancestor_vtx);
  return particle;
}

/// The numbers that labels are made of.
bool is_finite(const ParticleRow& row) {
  const double numbers[] = {row.px,    row.py,    row.pz,    row.energy_init,
                            row.vtx.x, row.vtx.y, row.vtx.z, row.vtx.t};
  return std::all_of(std::begin(numbers), std::end(numbers),
                     [](double number) { return std::isfinite(number); });
}

}  // namespace

struct ParticleReader::State {
  State(const EventFile& event_file, const ProductName& product, ReadWarnings& read_warnings)
      : file(event_file),
        warnings(read_warnings),
        place{.file = file.name(), .product = product.type + "_" + product.producer},
        extents(event_extents(file, product), workspace),
        particles(file.table<ParticleRow>(product, kParticlesTable), workspace) {}

  void check(const ParticleRow& row, std::size_t number) {
    const auto at = [&] { return place.text() + ": particle " + std::to_string(number); };
    if (!is_finite(row)) {
      warnings.add(WarningKind::value_not_finite, 1, place, at);
    }
    if (row.process.back() != '\0') {
      warnings.add(WarningKind::text_not_ended, 1, place, at);
    }
  }

  const EventFile& file;
  ReadWarnings& warnings;
  ReadPlace place;
  ChunkWorkspace workspace;
  TableReader<ExtentsRow> extents;
  TableReader<ParticleRow> particles;
};

ParticleReader::ParticleReader(const EventFile& file, const std::string& producer,
                               ReadWarnings& warnings)
    : state_(
          std::make_unique<State>(file, ProductName{std::string(kParticle), producer}, warnings)) {}

ParticleReader::~ParticleReader() = default;

void ParticleReader::read(std::int64_t entry, std::vector<Particle>& particles) {
  State& state = *state_;
  require_entry(state.file, entry);
  particles.clear();
  state.place.event = entry;
  at_place(state.place, [&] {
    const RowRange rows = read_range(state.extents, static_cast<std::uint64_t>(entry),
                                     state.particles.table(), state.place, state.warnings);
    state.particles.each_piece(rows.first, rows.count, [&](std::span<const ParticleRow> piece) {
      for (const ParticleRow& row : piece) {
        state.check(row, particles.size());
        particles.push_back(particle_of(row));
      }
    });
  });
}

}  // namespace cosmic::data::larcv
