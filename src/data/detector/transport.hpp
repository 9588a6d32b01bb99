// Follows particles through the argon until they stop, decay, interact or leave, and everything
// they make on the way: delta rays, Michel electrons, bremsstrahlung, pairs, decay photons.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "data/detector/argon.hpp"
#include "data/detector/ionization.hpp"
#include "data/detector/vec3.hpp"

namespace cosmic::data::detector {

struct MovingParticle {
  std::int32_t pdg = 0;
  Vec3 position;
  Vec3 direction;             ///< of length 1
  double kinetic_energy = 0;  ///< MeV
};

/// What became of the particle itself, not counting what it made.
struct Flight {
  Vec3 end;
  double length = 0;  ///< cm inside the active volume
};

class Transport {
 public:
  /// Both must outlive it.
  Transport(RandomStream& random, Ionization& ionization)
      : random_(random), ionization_(ionization) {}

  /// Follows a particle and all that comes of it.
  Flight run(const MovingParticle& particle);

 private:
  /// The finest detail that the planes can show.
  static constexpr double kStep = kWirePitch;

  Flight follow(MovingParticle particle);
  Flight follow_track(MovingParticle particle);
  Flight follow_electron(MovingParticle particle);
  Flight follow_photon(MovingParticle particle);
  Flight follow_neutron(MovingParticle particle);
  void decay_neutral_pion(const MovingParticle& pion);

  double make_delta_ray(const MovingParticle& parent, const Motion& motion, double step);
  void end_at_rest(const MovingParticle& particle);
  void break_up(const MovingParticle& hadron);
  void make_pair(const MovingParticle& photon);
  double scatter_photon(MovingParticle& photon);
  double radiate(const MovingParticle& electron);
  double draw_loss(double mean, double width);
  void scatter(MovingParticle& particle, double angle);

  RandomStream& random_;
  Ionization& ionization_;
  std::vector<MovingParticle> waiting_;
};

}  // namespace cosmic::data::detector
