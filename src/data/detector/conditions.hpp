// The state of the detector and its surroundings in a run: what may differ from one to the next,
// while the geometry and the physics stay.
#pragma once

namespace cosmic::data::detector {

struct Conditions {
  /// Cosmic rays relative to the sky at sea level.
  double cosmic_flux = 1.0;
  /// Mean time that a drifting electron survives impurities, in us. SBND's simulation of the time
  /// of the sample used 3 ms.
  double electron_lifetime = 3000;
  /// Share of wires that give nothing, the same ones in every event. No wire of the real sample is
  /// surely dead; detectors of this kind have about one in 1000.
  double dead_wires = 0.001;
  /// Pixels below are not stored; the real sample's smallest value.
  double threshold = 5;
};

}  // namespace cosmic::data::detector
