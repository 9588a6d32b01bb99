#include "report/profile/rank_profile.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::report::profile {

std::size_t RankProfile::slowest() const {
  COSMIC_ASSERT(!ranks.empty());
  const auto slowest = std::max_element(
      ranks.begin(), ranks.end(),
      [](const RankTimes& a, const RankTimes& b) { return a.working() < b.working(); });
  return static_cast<std::size_t>(slowest - ranks.begin());
}

double RankProfile::median_working() const {
  std::vector<double> sorted;
  for (const RankTimes& rank : ranks) {
    sorted.push_back(rank.working());
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) / 2];
}

double RankProfile::slowest_factor() const {
  const double median = median_working();
  return median > 0 ? ranks[slowest()].working() / median : 1;
}

double RankProfile::share(double RankTimes::*part) const {
  double sum = 0;
  double all = 0;
  for (const RankTimes& rank : ranks) {
    sum += rank.*part;
    all += rank.all() - rank.starting;
  }
  return all > 0 ? sum / all : 0;
}

std::string RankProfile::name(std::size_t rank) const {
  return "rank " + std::to_string(rank) + " on host " + ranks.at(rank).host;
}

}  // namespace cosmic::report::profile
