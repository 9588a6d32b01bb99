#include "core/content_hash.hpp"

#include <bit>

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

}  // namespace cosmic
