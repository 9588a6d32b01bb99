// The charge that particles free in the active volume, before it drifts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "data/detector/argon.hpp"
#include "data/detector/geometry.hpp"

namespace cosmic::data::detector {

/// A short straight piece of a particle's way.
struct Deposit {
  Vec3 from;
  Vec3 to;
  double charge = 0;  ///< what escapes recombination, as the energy in MeV that freed it
};

/// Deposits [begin, end) of one particle and everything it made, at one time.
struct Trail {
  Label label = Label::background;
  double time = 0;  ///< us after the trigger
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Ionization {
 public:
  /// What is added from now on belongs to this trail.
  void begin_trail(Label label, double time) {
    trails_.push_back({label, time, deposits_.size(), deposits_.size()});
  }

  /// Energy lost along a straight piece; what happens in the cathode or outside the active volume
  /// is not seen.
  void add(Vec3 from, Vec3 to, double energy) {
    const Vec3 middle = (from + to) * 0.5;
    if (energy <= 0 || !in_active_volume(middle) || in_cathode(middle)) {
      return;
    }
    // A particle that ends at once loses its energy over at least the size of the charge cloud
    // that recombination knows; without it a point would have no finite density.
    constexpr double kShortest = 0.02;
    const double length = std::max(norm(to - from), kShortest);
    deposits_.push_back({from, to, energy * recombination(energy / length)});
    trails_.back().end = deposits_.size();
    energy_ += energy;
  }

  /// Energy in MeV that was added since the last clear().
  double energy() const { return energy_; }
  std::span<const Trail> trails() const { return trails_; }
  std::span<const Deposit> deposits_of(const Trail& trail) const {
    return std::span(deposits_).subspan(trail.begin, trail.end - trail.begin);
  }

  /// Empties it and keeps the memory, for the next event.
  void clear() {
    trails_.clear();
    deposits_.clear();
    energy_ = 0;
  }

 private:
  std::vector<Trail> trails_;
  std::vector<Deposit> deposits_;
  double energy_ = 0;
};

}  // namespace cosmic::data::detector
