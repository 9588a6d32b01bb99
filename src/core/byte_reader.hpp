// Reads little-endian numbers and texts from bytes that somebody else wrote: checkpoints, compiled
// programs, HDF5. It trusts nothing. It never looks beyond the end, and compares a count with the
// bytes that are left before anybody makes something that large.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace cosmic {

/// Every function that reads throws DataError where the bytes are not what is asked for:
/// "<what> <problem> (byte 12 of 40); <advice>".
class ByteReader {
 public:
  /// The bytes, and the advice, must live as long as the reader.
  ByteReader(std::span<const std::byte> bytes, std::string what, std::string_view advice)
      : bytes_(bytes), what_(std::move(what)), advice_(advice) {}
  ByteReader(std::string_view bytes, std::string what, std::string_view advice)
      : ByteReader(std::as_bytes(std::span(bytes)), std::move(what), advice) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  /// What the bytes are, for messages about their meaning.
  const std::string& what() const { return what_; }

  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::int32_t i32() { return number<std::int32_t>(); }
  std::int64_t i64() { return number<std::int64_t>(); }
  double real() { return number<double>(); }
  /// An unsigned number of 1 to 8 bytes.
  std::uint64_t unsigned_of(std::size_t width);
  /// How many things follow, each of at least `least_bytes`.
  std::size_t count(std::size_t least_bytes);

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left()) {
      fail_short(count);
    }
    const std::span<const std::byte> taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }
  void skip(std::uint64_t count) { take(count); }
  std::string_view text(std::uint64_t count) {
    const std::span<const std::byte> taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  /// A text after the number of its bytes.
  std::string_view text() { return text(count(1)); }
  /// Up to the first `end`, which is taken too but is not part of the text.
  std::string_view text_until(char end);

  /// Throws unless `ok`; `problem` is a predicate: "names a value that is not there".
  void require(bool ok, std::string_view problem) const {
    if (!ok) {
      fail(problem);
    }
  }
  /// Throws unless everything has been read.
  void require_end() const;

 private:
  template <class Number>
  Number number() {
    static_assert(std::endian::native == std::endian::little,
                  "numbers are copied as they lie in memory, and the files are little-endian");
    Number number{};
    std::memcpy(&number, take(sizeof(number)).data(), sizeof(number));
    return number;
  }
  [[noreturn]] void fail(std::string_view problem) const;
  [[noreturn]] void fail_short(std::uint64_t needed) const;

  std::span<const std::byte> bytes_;
  std::string what_;
  std::string_view advice_;
  std::size_t position_ = 0;
};

}  // namespace cosmic
