// Reads `particle` products: the true particles of an event, the neutrino first where there is one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/read_warnings.hpp"

namespace cosmic::data::larcv {

/// Belongs to one thread; the file and the warnings outlive it.
class ParticleReader {
 public:
  ParticleReader(const EventFile& file, const std::string& producer, ReadWarnings& warnings);
  ~ParticleReader();
  ParticleReader(const ParticleReader&) = delete;
  ParticleReader& operator=(const ParticleReader&) = delete;

  /// Replaces `particles` by those of an event. Throws DataError with the file, product and event.
  void read(std::int64_t entry, std::vector<Particle>& particles);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cosmic::data::larcv
