// What files say about the neutrinos of their events, beside images and labels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/event_source.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/particle_reader.hpp"
#include "report/evaluation/event_result.hpp"

namespace cosmic::report::evaluation {

/// Nothing for files that say nothing.
class NeutrinoTruth {
 public:
  explicit NeutrinoTruth(std::vector<data::SourcePart> files) : files_(std::move(files)) {}

  /// Cheap if entries come in order.
  std::optional<TrueNeutrino> of(std::int64_t entry);

  std::vector<data::ReadNote> notes() const { return notes_of(warnings_); }

 private:
  void open(const std::string& name);

  std::vector<data::SourcePart> files_;
  data::larcv::ReadWarnings warnings_;  // of particles
  std::optional<data::larcv::EventFile> open_;
  std::optional<data::larcv::ParticleReader> reader_;
  std::vector<data::Particle> particles_;
};

}  // namespace cosmic::report::evaluation
