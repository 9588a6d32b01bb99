// The processes of one run side by side: who computed, who waited, and for whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/provenance.hpp"
#include "report/profile/run_profile.hpp"

namespace cosmic::report::profile {

/// Where the time of one process went, in seconds: parts that do not overlap. All processes of a
/// run take about the same time together, because each waits for the others.
struct RankTimes {
  std::string host = {};
  std::string page = {};  ///< its own profile, as seen from the page that compares
  double computing = 0;   ///< updates, validations and everything that has no part of its own
  double data = 0;        ///< waiting for events to be read
  double writing = 0;     ///< checkpoints, logs, metrics
  double exchange = 0;    ///< waiting for messages that are on their way
  double waiting = 0;     ///< for others that are late
  double starting = 0;    ///< opening files, compiling, until the first update

  /// On the updates, whoever else is late.
  double working() const { return computing + data + writing; }
  double all() const { return working() + exchange + waiting + starting; }
};

/// How long the processes worked for one update.
struct UpdateSpread {
  std::int64_t step = 0;
  int slowest_rank = 0;
  double fastest = 0;
  double median = 0;
  double slowest = 0;

  /// What the fastest waited for the slowest.
  double spread() const { return slowest - fastest; }
};

struct RankProfile {
  RunFacts facts;
  Provenance provenance = Provenance::measured;
  std::int64_t threads = 0;  ///< of each process
  std::int64_t updates = 0;
  std::vector<RankTimes> ranks;
  std::vector<UpdateSpread> widest;  ///< the largest spread first
  std::vector<UpdateSpread> latest;  ///< in their order

  /// The rank that worked longest.
  std::size_t slowest() const;
  double median_working() const;
  /// How much longer than the median it worked.
  double slowest_factor() const;
  /// One part of the time of all processes, as a share of all their time since the start.
  double share(double RankTimes::*part) const;
  /// "rank 2 on host node17"
  std::string name(std::size_t rank) const;
};

std::string to_json(const RankProfile& profile);
std::string to_page(const RankProfile& profile);

}  // namespace cosmic::report::profile
