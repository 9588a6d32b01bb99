#include "checkpoint/byte_reader.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::checkpoint {

std::span<const std::byte> ByteReader::take(std::uint64_t count) {
  COSMIC_REQUIRE(DataError, count <= left(),
                 what_ << ", byte " << position_ << ": " << count << " bytes are announced, "
                       << left() << " are left (it is cut short or damaged); copy the file again");
  const std::span<const std::byte> taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

std::string_view ByteReader::line() {
  const auto rest = bytes_.subspan(position_);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
  COSMIC_REQUIRE(DataError, end != rest.end(),
                 what_ << ", byte " << position_
                       << ": a line does not end (it is cut short or damaged); copy the file "
                          "again");
  const std::string_view result = text(static_cast<std::uint64_t>(end - rest.begin()));
  ++position_;
  return result;
}

}  // namespace cosmic::checkpoint
