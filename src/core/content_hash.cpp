#include "core/content_hash.hpp"

#include <bit>
#include <cstdio>

namespace cosmic {

static_assert(std::endian::native == std::endian::little,
              "content is hashed as it lies in memory, and must give the same everywhere");

void ContentHash::add(std::span<const std::byte> bytes) {
  add(static_cast<std::uint64_t>(bytes.size()));
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), taken);
    add(word);
    bytes = bytes.subspan(taken);
  }
}

std::string ContentHash::text() const {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(state_));
  return digits;
}

}  // namespace cosmic
