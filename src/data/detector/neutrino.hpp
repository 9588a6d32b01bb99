// A neutrino of the beam that hits an argon nucleus: what it was, where, and what comes out. Not a
// generator of cross sections; the particles have the numbers, energies and angles that such an
// interaction typically has at around 1 GeV, so that each kind looks like itself.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "data/detector/transport.hpp"

namespace cosmic::data::detector {

enum class Current : std::int16_t { charged = 0, neutral = 1 };

struct Interaction {
  std::int32_t neutrino_pdg = 0;
  Current current = Current::charged;
  std::int16_t type = 0;  ///< NUANCE's code, as in larcv3 files
  double energy = 0;      ///< of the neutrino, MeV
  Vec3 direction;         ///< of the neutrino
  Vec3 vertex;
  double time = 0;                        ///< ns within the beam's spill
  std::vector<MovingParticle> primaries;  ///< all start at the vertex; the lepton is the first
};

Interaction draw_interaction(RandomStream& random);

}  // namespace cosmic::data::detector
