#include "train/rank_comparison.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::train {

using report::profile::RankTimes;
using report::profile::UpdateSpread;

void RankComparison::add(std::int64_t step, std::span<const Stretch> of_ranks) {
  const bool starts = ranks_.empty();
  ranks_.resize(of_ranks.size());
  COSMIC_ASSERT(!of_ranks.empty() && ranks_.size() == of_ranks.size());
  double exchange = of_ranks.front().waiting;
  for (const Stretch& stretch : of_ranks) {
    exchange = std::min(exchange, stretch.waiting);
  }
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    const Stretch& stretch = of_ranks[rank];
    RankTimes& times = ranks_[rank];
    (starts ? times.starting : times.computing) += stretch.computing();
    times.data += stretch.data;
    times.writing += stretch.writing;
    times.exchange += exchange;
    times.waiting += stretch.waiting - exchange;
  }
  if (starts) {
    first_step_ = step;
  } else if (step > step_) {
    add_update(step - 1, of_ranks);
  }
  step_ = step;
}

void RankComparison::add_update(std::int64_t step, std::span<const Stretch> of_ranks) {
  std::vector<double> sorted;
  for (const Stretch& stretch : of_ranks) {
    sorted.push_back(stretch.working());
  }
  const auto slowest = std::max_element(sorted.begin(), sorted.end());
  UpdateSpread update{.step = step, .slowest_rank = static_cast<int>(slowest - sorted.begin())};
  std::sort(sorted.begin(), sorted.end());
  update.fastest = sorted.front();
  update.median = sorted[(sorted.size() - 1) / 2];
  update.slowest = sorted.back();
  latest_.push_back(update);
  if (latest_.size() > kKept) {
    latest_.pop_front();
  }
  const auto place = std::find_if(widest_.begin(), widest_.end(), [&](const UpdateSpread& one) {
    return one.spread() < update.spread();
  });
  widest_.insert(place, update);
  if (widest_.size() > kWidest) {
    widest_.pop_back();
  }
}

report::profile::RankProfile RankComparison::profile() const {
  report::profile::RankProfile profile;
  profile.updates = step_ - first_step_;
  profile.ranks = ranks_;
  profile.widest = widest_;
  profile.latest.assign(latest_.begin(), latest_.end());
  return profile;
}

}  // namespace cosmic::train
