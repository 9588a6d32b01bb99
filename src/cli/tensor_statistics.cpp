#include "cli/tensor_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace cosmic::cli {
namespace {

template <class Element>
TensorStatistics statistics_of_elements(std::span<const Element> values) {
  TensorStatistics result;
  double sum = 0;
  double squares = 0;
  for (const Element each : values) {
    const auto value = static_cast<double>(each);
    if (!std::isfinite(value)) {
      ++result.not_finite;
      continue;
    }
    result.least = std::min(result.least, value);
    result.greatest = std::max(result.greatest, value);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(values.size()) - static_cast<double>(result.not_finite);
  if (count > 0) {
    result.mean = sum / count;
    result.deviation = std::sqrt(std::max(0.0, squares / count - result.mean * result.mean));
  }
  return result;
}

}  // namespace

TensorStatistics statistics_of(const session::Tensor& tensor) {
  switch (tensor.type.dtype) {
    case graph::DType::f32:
      return statistics_of_elements(tensor.as<float>());
    case graph::DType::i64:
      return statistics_of_elements(tensor.as<std::int64_t>());
    case graph::DType::u8:
      return statistics_of_elements(tensor.as<std::uint8_t>());
  }
  return {};
}

}  // namespace cosmic::cli
