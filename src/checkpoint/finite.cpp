#include "checkpoint/finite.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace cosmic::checkpoint {
namespace {

/// Of infinity and NaN, and of nothing else.
constexpr std::uint32_t kExponent = 0x7f800000;

/// Plain integers in blocks, which compilers make vectors of; std::isfinite they may not.
std::int64_t count_non_finite(std::span<const float> values) {
  constexpr std::size_t kBlock = 4096;
  std::int64_t all = 0;
  while (!values.empty()) {
    const std::span<const float> block = values.first(std::min(kBlock, values.size()));
    std::uint32_t count = 0;
    for (const float value : block) {
      count += (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1 : 0;
    }
    all += count;
    values = values.subspan(block.size());
  }
  return all;
}

float first_non_finite(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) {
      return value;
    }
  }
  return 0;
}

}  // namespace

std::string NonFinite::text() const {
  return fmt::format("'{}' has {} number{} not finite, such as {}{}", tensor, count,
                     count == 1 ? " that is" : "s that are", first,
                     more_tensors == 0 ? ""
                                       : fmt::format(", and so {} {} other tensor{}",
                                                     more_tensors == 1 ? "has" : "have",
                                                     more_tensors, more_tensors == 1 ? "" : "s"));
}

void FiniteCheck::add(const std::string& tensor, std::span<const float> numbers) {
  const std::int64_t count = count_non_finite(numbers);
  if (count == 0) {
    return;
  }
  if (!found_) {
    found_ = NonFinite{tensor, count, first_non_finite(numbers), 0};
  } else if (found_->tensor == tensor) {
    found_->count += count;
  } else if (latest_ != tensor) {
    ++found_->more_tensors;
  }
  latest_ = tensor;
}

void FiniteCheck::add(const session::NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.type.dtype == graph::DType::f32) {
      add(name, tensor.as<float>());
    }
  }
}

std::optional<NonFinite> find_non_finite(const session::NamedTensors& tensors) {
  FiniteCheck check;
  check.add(tensors);
  return check.found();
}

}  // namespace cosmic::checkpoint
