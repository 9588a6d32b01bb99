// Small events for the demo: windows of generated events that hold the neutrino's vertex somewhere,
// shrunk so that a network can learn from them within a minute.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "data/detector/detector.hpp"
#include "data/downsample.hpp"

namespace cosmic::cli {

class DemoEvents {
 public:
  /// Throws UserError unless the window is within the detector's image.
  DemoEvents(std::int64_t rows, std::int64_t columns, std::uint64_t seed);

  /// Adds event `index` to the end of both, as [3, rows, columns].
  void append(std::int64_t index, std::vector<float>& image, std::vector<std::uint8_t>& label);

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::uint64_t seed_;
  int halvings_;
  data::detector::Detector detector_;
  data::detector::Simulator simulator_;
  data::detector::SimulatedEvent simulated_;
  data::Downsampler downsampler_;
};

}  // namespace cosmic::cli
