// Selecting events with a neutrino by their score: how many stay, and how many that have only
// cosmic rays stay with them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/evaluation/interval.hpp"

namespace cosmic::report::evaluation {

/// Shares of the neutrino events that reports give cuts for.
inline constexpr double kWorkingPoints[] = {0.99, 0.95, 0.90, 0.80, 0.50};
/// Steps of the scan shown in reports.
inline constexpr int kScanSteps = 100;

/// Events kept by a cut, of both kinds.
struct Kept {
  double threshold = 0;  ///< events with a higher score are kept
  std::int64_t neutrino = 0;
  std::int64_t cosmic_only = 0;
};

class Selection {
 public:
  /// Scores of events with a neutrino, and of those without.
  Selection(std::vector<double> neutrino, std::vector<double> cosmic_only);

  std::int64_t neutrino_events() const { return static_cast<std::int64_t>(neutrino_.size()); }
  std::int64_t cosmic_only_events() const { return static_cast<std::int64_t>(cosmic_only_.size()); }

  Kept above(double threshold) const;
  /// Thresholds from 0 to 1 in equal steps.
  std::vector<Kept> scan(int steps) const;
  /// Every cut that makes a difference, from keeping all to keeping none.
  std::vector<Kept> all_cuts() const;
  /// The tightest cut that keeps at least this share of the neutrino events; nothing if too few of
  /// them have a score above 0.
  std::optional<Kept> keeping(double neutrino_share) const;

  Share neutrino_share(const Kept& kept) const;
  Share cosmic_only_share(const Kept& kept) const;
  /// Probability that an event with a neutrino has the higher score of the two; the area under the
  /// curve of all cuts. NaN unless there are both kinds.
  double separation() const;

 private:
  std::vector<double> neutrino_;     // ascending
  std::vector<double> cosmic_only_;  // ascending
};

}  // namespace cosmic::report::evaluation
