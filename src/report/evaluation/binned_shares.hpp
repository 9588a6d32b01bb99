// Efficiency and purity of neutrino pixels against something that events differ in, such as the
// energy of the neutrino.
#pragma once

#include <cstdint>
#include <vector>

#include "report/evaluation/event_result.hpp"
#include "report/evaluation/interval.hpp"

namespace cosmic::report::evaluation {

struct ShareBin {
  double low = 0;
  double high = 0;
  std::int64_t events = 0;
  PixelShare efficiency;
  PixelShare purity;

  void add(const EventResult& event);
};

/// Edges ascend. An event below the first or above the last is not counted.
class BinnedShares {
 public:
  explicit BinnedShares(const std::vector<double>& edges);

  void add(double value, const EventResult& event);
  /// From the first bin with events to the last.
  std::vector<ShareBin> bins() const;

 private:
  std::vector<ShareBin> bins_;
};

/// By the number of true neutrino pixels: 1, 2 and 5 times powers of ten from 10 on, and one bin
/// for fewer.
std::vector<ShareBin> shares_by_pixels(const std::vector<EventResult>& events);
/// By neutrino energy in GeV, of the events whose energy is known.
std::vector<ShareBin> shares_by_energy(const std::vector<EventResult>& events);

}  // namespace cosmic::report::evaluation
