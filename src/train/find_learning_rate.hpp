// Looks for a learning rate: trains with a rate that rises from update to update and watches the
// loss, which falls while the rate is useful and explodes where it is too large.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "output/run_log.hpp"

namespace cosmic::train {

struct RateSearch {
  double from = 1e-6;
  double to = 1;
  std::int64_t updates = 100;
};

struct RatePoint {
  double rate = 0;
  double loss = 0;
  double smoothed = 0;  ///< a moving average, corrected for its short memory at the start
};

struct FoundRate {
  std::vector<RatePoint> points;
  /// The loss became twice its lowest, or no number, so that larger rates were not tried.
  bool diverged = false;

  /// A tenth of the rate with the lowest smoothed loss: there the loss still falls fast and is far
  /// from exploding. None if the loss never fell.
  std::optional<double> suggestion() const;
};

/// Adds a loss and its average; false where the search should end.
bool add_point(FoundRate& found, double rate, double loss);

/// Writes nothing; the weights begin with mode.weights_location or fresh. Throws as train() does.
FoundRate find_learning_rate(
    config::Configuration configuration, const std::string& target, const RateSearch& search,
    output::RunLog& log, const std::function<void(double done, const std::string& what)>& progress);

}  // namespace cosmic::train
