// Takes little-endian numbers and texts off a block of bytes, never more than there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"

namespace cosmic::data::larcv::hdf5 {

class ByteCursor {
 public:
  /// `what` names the block in errors.
  ByteCursor(std::span<const std::byte> bytes, std::string_view what)
      : bytes_(bytes), what_(what) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  std::string_view what() const { return what_; }

  std::span<const std::byte> take(std::size_t count) {
    COSMIC_REQUIRE(DataError, count <= remaining(),
                   what_ << " has " << bytes_.size() << " bytes, but " << count
                         << " more are needed at byte " << position_ << " (it is incomplete); "
                         << kDamaged);
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }
  void skip(std::size_t count) { take(count); }

  /// A number of 1 to 8 bytes.
  std::uint64_t number(std::size_t width) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : take(width)) {
      value |= std::to_integer<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    return value;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }

  std::string text(std::size_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  /// A name that ends with a NUL, which is taken too.
  std::string name() {
    const auto rest = bytes_.subspan(position_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    std::string name = this->name(static_cast<std::size_t>(end - rest.begin()));
    skip(1);
    return name;
  }
  /// A name of known length. Names are shown to people, on terminals that obey control characters.
  std::string name(std::size_t length) {
    constexpr std::size_t kMaxName = 1024;  // larcv3's are below 128
    COSMIC_REQUIRE(DataError, length <= kMaxName,
                   what_ << " has a name of more than " << kMaxName << " bytes; " << kDamaged);
    std::string name = text(length);
    COSMIC_REQUIRE(
        DataError,
        std::none_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }),
        what_ << " has a name with control characters; " << kDamaged);
    return name;
  }

  void expect_signature(std::string_view signature) {
    const std::string found = text(signature.size());
    COSMIC_REQUIRE(DataError, found == signature,
                   what_ << " does not start with '" << signature << "' ("
                         << "there is something else in its place); " << kDamaged);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::string_view what_;
};

}  // namespace cosmic::data::larcv::hdf5
