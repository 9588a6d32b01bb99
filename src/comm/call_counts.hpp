// How far each process has come. All make the same calls in the same order, so whoever has made
// fewer keeps the others waiting: it computes, reads or writes still, or it hangs. Each tells its
// neighbour what it knows of all, so everybody hears of everybody after a while.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace cosmic::comm {

class CallCounts {
 public:
  CallCounts(int rank, int size)
      : rank_(static_cast<std::size_t>(rank)), counts_(static_cast<std::size_t>(size)) {}

  /// Calls that this process has made.
  void set_own(std::uint64_t calls) { counts_[rank_] = calls; }
  /// What a neighbour knows. Counts only grow, so the larger one is the later one.
  void merge(std::span<const std::uint64_t> heard) {
    COSMIC_ASSERT(heard.size() == counts_.size());
    std::transform(heard.begin(), heard.end(), counts_.begin(), counts_.begin(),
                   [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  }
  std::span<const std::uint64_t> of_all() const { return counts_; }

  /// The processes that have not made this many calls yet, as far as is known here.
  std::vector<int> short_of(std::uint64_t calls) const {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] < calls) {
        ranks.push_back(static_cast<int>(rank));
      }
    }
    return ranks;
  }

 private:
  std::size_t rank_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace cosmic::comm
