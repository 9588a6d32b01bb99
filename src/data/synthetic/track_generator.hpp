// Events with known truth, for demos and tests: straight cosmic tracks through a box of argon and a
// neutrino vertex with a few short tracks. Every track is a line in space, seen by three wire
// planes at +60, -60 and 0 degrees, so that the planes tell one story: a row is a time, and the
// same charge arrives at the same time everywhere; a column is a wire.
#pragma once

#include <cstdint>
#include <vector>

#include "data/event.hpp"

namespace cosmic::data {

struct Event {
  std::vector<float> image;         ///< charge, [3, rows, columns]
  std::vector<std::uint8_t> label;  ///< Label, [3, rows, columns]
};

/// Event number i depends on the seed and i only, whoever asks and in whatever order.
class TrackGenerator {
 public:
  TrackGenerator(std::int64_t rows, std::int64_t columns, std::uint64_t seed);

  Event event(std::uint64_t index) const;

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::uint64_t seed_;
};

}  // namespace cosmic::data
