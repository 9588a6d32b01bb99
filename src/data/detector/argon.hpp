// What liquid argon does to particles. Energies in MeV, lengths in cm.
#pragma once

namespace cosmic::data::detector {

inline constexpr double kElectronMass = 0.511;

/// Delta rays of more energy are followed as electrons of their own; softer ones, which end within
/// a pixel, are part of the track's loss.
inline constexpr double kDeltaRayCut = 1.0;

inline constexpr double kRadiationLength = 14.0;  // PDG: 19.55 g/cm^2 at 1.396 g/cm^3

/// A heavy charged particle at one energy, as the formulas below want it.
struct Motion {
  double beta_squared = 0;
  double gamma = 0;
  double momentum = 0;
  double largest_transfer = 0;  ///< to an electron at rest

  Motion(double kinetic_energy, double mass);
};

/// Mean loss per cm to transfers below kDeltaRayCut (Bethe, with Sternheimer's density effect).
double restricted_loss(const Motion& motion);

/// Landau's width per cm: the loss in a layer fluctuates by this times its thickness.
double landau_width(const Motion& motion);

/// Delta rays above kDeltaRayCut per cm.
double delta_rays_per_cm(const Motion& motion);

/// Width of the angle that many small scatters add up to (Highland) in a layer.
double scattering_angle(double momentum, double beta_squared, double thickness);

/// Share of the charge that does not recombine, for a local loss per cm.
double recombination(double loss_per_cm);

/// Interactions of a photon per cm.
double compton_per_cm(double photon_energy);
double pairs_per_cm(double photon_energy);

/// Photons harder than this are radiated one by one; softer ones take too little to matter.
inline constexpr double kRadiationCut = 1.0;

/// Photons above kRadiationCut that an electron radiates per cm.
double bremsstrahlung_per_cm(double electron_energy);

}  // namespace cosmic::data::detector
