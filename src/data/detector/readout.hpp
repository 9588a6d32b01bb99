// Turns charge in space into what the three wire planes store: images and their labels.
#pragma once

#include <vector>

#include "core/random.hpp"
#include "data/detector/canvas.hpp"
#include "data/detector/conditions.hpp"
#include "data/detector/ionization.hpp"
#include "data/detector/noise.hpp"
#include "data/detector/response.hpp"
#include "data/event.hpp"

namespace cosmic::data::detector {

/// The detector's side of it: the same for all events, read by all threads.
class Readout {
 public:
  explicit Readout(const Conditions& conditions);

  bool is_dead(std::size_t plane, DriftVolume volume, std::int64_t column) const {
    return dead_[plane][static_cast<std::size_t>(volume)][static_cast<std::size_t>(column)];
  }

  /// One thread's memory, used again for every plane.
  struct Workspace {
    Canvas canvas;  ///< clear whenever nothing is being read out
    std::vector<NoiseHit> noise;
  };

  /// One plane's image and labels.
  void read_out(const Ionization& ionization, std::size_t plane, RandomStream& random,
                Workspace& workspace, SparsePlane& image, SparsePlane& labels) const;

 private:
  /// What all points of a deposit have in common.
  struct Brush {
    std::size_t plane = 0;
    DriftVolume volume = DriftVolume::negative_x;
    std::size_t owner = 0;  ///< index of Canvas::Pixel::truth
    float truth = 0;        ///< charge of a point before the electronics, MeV
    float charge = 0;       ///< the same as a pixel value
  };

  void draw(const Deposit& deposit, const Trail& trail, std::size_t plane, Canvas& canvas) const;
  void draw(ImagePoint point, const Brush& brush, const Response::Spread& spread,
            Canvas& canvas) const;
  /// Takes what is above the threshold from the canvas and from the noise, in order of id.
  void store(std::size_t plane, RandomStream& random, Workspace& workspace, SparsePlane& image,
             SparsePlane& labels) const;

  Conditions conditions_;
  Response response_;
  NoiseHits noise_;
  std::array<std::array<std::vector<bool>, kDriftVolumes>, kPlanes> dead_;
};

}  // namespace cosmic::data::detector
