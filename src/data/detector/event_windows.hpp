// Generated events of any size up to the detector's: windows that hold the neutrino's vertex
// somewhere, for trying a program without a file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "data/detector/detector.hpp"
#include "data/downsample.hpp"

namespace cosmic::data::detector {

class EventWindows {
 public:
  /// Throws UserError unless the window is within the detector's image.
  EventWindows(std::int64_t rows, std::int64_t columns, std::uint64_t seed);

  /// Adds event `index` to the end of both, as [3, rows, columns].
  void append(std::int64_t index, std::vector<float>& image, std::vector<std::uint8_t>& label);

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::uint64_t seed_;
  int halvings_;
  Detector detector_;
  Simulator simulator_;
  SimulatedEvent simulated_;
  Downsampler downsampler_;
};

}  // namespace cosmic::data::detector
