// The particles that are followed, by their PDG numbers. Masses in MeV.
#pragma once

#include <cstdint>

#include "data/detector/argon.hpp"

namespace cosmic::data::detector::pdg {

inline constexpr std::int32_t kElectron = 11;
inline constexpr std::int32_t kElectronNeutrino = 12;
inline constexpr std::int32_t kMuon = 13;
inline constexpr std::int32_t kMuonNeutrino = 14;
inline constexpr std::int32_t kPhoton = 22;
inline constexpr std::int32_t kNeutralPion = 111;
inline constexpr std::int32_t kPion = 211;
inline constexpr std::int32_t kNeutron = 2112;
inline constexpr std::int32_t kProton = 2212;

/// The mass of a particle or its antiparticle.
constexpr double mass_of(std::int32_t number) {
  switch (number < 0 ? -number : number) {
    case kElectron:
      return kElectronMass;
    case kMuon:
      return 105.658;
    case kNeutralPion:
      return 134.977;
    case kPion:
      return 139.570;
    case kNeutron:
      return 939.565;
    case kProton:
      return 938.272;
    default:
      return 0;
  }
}

}  // namespace cosmic::data::detector::pdg
