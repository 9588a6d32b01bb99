// What the electronics show where there is no charge. Most wires have white noise, of which single
// pixels pass the threshold. The second induction wires also have slow noise, which deconvolution
// of their bipolar pulses lifts: it passes the threshold in streaks along time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "core/random.hpp"
#include "data/detector/geometry.hpp"

namespace cosmic::data::detector {

/// Width of the noise under a pulse, in pixel values.
double noise_width(WireRole role);

class NoiseHits {
 public:
  explicit NoiseHits(double threshold);

  using Hit = std::function<void(std::int64_t column, std::int64_t row, float value)>;

  /// Calls hit(column, row, value) for every pixel of a plane's part that passes the threshold by
  /// noise alone.
  void draw(RandomStream& random, std::size_t plane, DriftVolume volume, const Hit& hit) const;

 private:
  void draw_single(RandomStream& random, std::size_t plane, DriftVolume volume,
                   const Hit& hit) const;
  void draw_streaks(RandomStream& random, std::size_t plane, DriftVolume volume,
                    const Hit& hit) const;

  /// How rows pass at one level of slow noise.
  struct Level {
    double row_passes = 0;       ///< chance of a row
    double cell_passes = 0;      ///< chance that some row of a cell does
    double log_row_fails = 0;    ///< logarithm of the chance that a row does not
    std::uint32_t in_65536 = 0;  ///< cell_passes, for 16 random bits
  };

  static constexpr std::size_t kLevels = 256;

  double threshold_;
  std::array<Level, kLevels> levels_{};
  /// Below this slow noise, no cell passes whose 16 random bits begin with these eight.
  std::array<double, 256> least_slow_{};
};

}  // namespace cosmic::data::detector
