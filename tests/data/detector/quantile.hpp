#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cosmic::data::detector {

/// The value that a share of `values` is below; 0 if there are none. Changes their order.
inline double quantile(std::vector<float>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(at)]);
}

}  // namespace cosmic::data::detector
