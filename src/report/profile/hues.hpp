// Colours for kinds of ops, the same wherever the page shows them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "report/profile/op_times.hpp"

namespace cosmic::report::profile {

/// The kinds that take the most time get a colour of their own; all others share the last.
class Hues {
 public:
  static constexpr std::size_t kHues = 12;

  explicit Hues(const std::vector<OpProfile>& kinds_by_time) {
    for (const OpProfile& kind : kinds_by_time) {
      if (kinds_.size() + 1 < kHues) {
        kinds_.push_back(kind.op);
      }
    }
  }

  /// A class of the style sheet.
  std::string of(const std::string& op) const {
    return name(
        static_cast<std::size_t>(std::find(kinds_.begin(), kinds_.end(), op) - kinds_.begin()));
  }
  static std::string name(std::size_t index) {
    return "hue" + std::to_string(std::min(index, kHues - 1));
  }

 private:
  std::vector<std::string> kinds_;
};

}  // namespace cosmic::report::profile
