// Where the time of each process of a run goes, put side by side while the run goes on. Processes
// tell each other after every update; what is kept does not grow with the run.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "report/profile/rank_profile.hpp"

namespace cosmic::train {

class RankComparison {
 public:
  /// Between two words of a process, in seconds.
  struct Stretch {
    double seconds = 0;  ///< of the clock on the wall
    double waiting = 0;  ///< of them, for messages of other processes
    double data = 0;     ///< for events to be read
    double writing = 0;  ///< of checkpoints, logs and metrics

    double working() const { return seconds - waiting; }
    double computing() const { return seconds - waiting - data - writing; }
  };

  static constexpr std::size_t kWidest = 10;  ///< updates with the largest spread
  static constexpr std::size_t kKept = 4000;  ///< of the latest updates

  /// One stretch of each process, by rank. The first is the start of the run; each of the others
  /// ends after update number `step` - 1, the last perhaps with no update in it.
  ///
  /// All of them end together, so the one that waits least is the one that the others wait for.
  /// What even that one waits is the time that the messages take; what others wait beyond it, they
  /// wait for others.
  void add(std::int64_t step, std::span<const Stretch> of_ranks);

  /// Without what a comparison does not know: hosts and pages.
  report::profile::RankProfile profile() const;

 private:
  void add_update(std::int64_t step, std::span<const Stretch> of_ranks);

  std::vector<report::profile::RankTimes> ranks_;
  std::int64_t first_step_ = 0;
  std::int64_t step_ = 0;  ///< updates made, when the last stretches ended
  std::vector<report::profile::UpdateSpread> widest_;
  std::deque<report::profile::UpdateSpread> latest_;
};

/// Cuts the times that one process has counted since its start into stretches.
class RankClock {
 public:
  struct Counted {
    double waiting = 0;
    double data = 0;
    double writing = 0;
  };

  RankComparison::Stretch next(double seconds, const Counted& counted) {
    const RankComparison::Stretch stretch{seconds - seconds_, counted.waiting - counted_.waiting,
                                          counted.data - counted_.data,
                                          counted.writing - counted_.writing};
    seconds_ = seconds;
    counted_ = counted;
    return stretch;
  }

 private:
  double seconds_ = 0;
  Counted counted_;
};

}  // namespace cosmic::train
