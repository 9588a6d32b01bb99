// Products of sizes that somebody typed. Each may be any number, so their product may be more than
// any number holds, and would wrap around to a small or negative one without a word.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace cosmic {

/// Nothing if it does not fit 64 bits.
inline std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return std::nullopt;
    }
  }
  return product;
}

/// Nothing if it does not fit 64 bits.
inline std::optional<std::int64_t> checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}

}  // namespace cosmic
