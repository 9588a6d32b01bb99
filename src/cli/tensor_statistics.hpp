// What there is to say about the numbers of a tensor.
#pragma once

#include <cstdint>
#include <limits>

#include "session/tensor.hpp"

namespace cosmic::cli {

/// Of those that are finite.
struct TensorStatistics {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double deviation = 0;
  std::int64_t not_finite = 0;
};

TensorStatistics statistics_of(const session::Tensor& tensor);

}  // namespace cosmic::cli
