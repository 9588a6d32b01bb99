// What the electronics show where there is no charge. All wires have white noise, of which single
// pixels pass the threshold. The second induction wires also have slow noise, which deconvolution
// of their bipolar pulses lifts: it passes the threshold in streaks along time.
//
// Hits are few, so the way from one to the next is drawn, not every pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "data/detector/geometry.hpp"
#include "data/detector/quantile_table.hpp"

namespace cosmic::data::detector {

/// Width of the noise under a pulse, in pixel values.
double noise_width(WireRole role);

struct NoiseHit {
  std::uint64_t id = 0;  ///< of the pixel
  float value = 0;
};

class NoiseHits {
 public:
  explicit NoiseHits(double threshold);

  /// Replaces `hits` by the pixels of a plane that pass the threshold by noise alone, in order of
  /// id.
  void draw(RandomStream& random, std::size_t plane, std::vector<NoiseHit>& hits) const;

 private:
  /// What a normal distribution shows above the threshold.
  struct Level {
    double per_row;  ///< density of hits; rows pass with a chance of 1 - exp(-per_row)
    QuantileTable values;

    Level(double mean, double width, double threshold);
  };
  class Ribbon;

  static void draw_single(RandomStream& random, const Level& level, const Ribbon& ribbon,
                          std::vector<NoiseHit>& hits);
  void draw_streaks(RandomStream& random, const Ribbon& ribbon, std::vector<NoiseHit>& hits) const;

  Level induction_;  ///< white noise of both kinds of induction wires
  Level lifted_;     ///< the same while slow noise lifts it
  Level collection_;
};

}  // namespace cosmic::data::detector
