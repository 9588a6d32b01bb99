// What falls from the sky during a readout: muons, and the electrons and photons that come along.
#pragma once

#include <vector>

#include "core/random.hpp"
#include "data/detector/transport.hpp"

namespace cosmic::data::detector {

struct CosmicRay {
  MovingParticle particle;  ///< where it enters the active volume
  double time = 0;          ///< us after the trigger
};

/// All that enter the active volume early or late enough to leave charge in the readout. `flux`
/// scales the number: 1 is the sky.
std::vector<CosmicRay> draw_cosmic_rays(RandomStream& random, double flux);

}  // namespace cosmic::data::detector
