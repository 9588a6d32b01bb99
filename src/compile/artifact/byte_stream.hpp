// Numbers and texts as bytes, little-endian, without padding, and back. The reader trusts nothing:
// it never looks beyond the end, and a count is compared with the bytes that are left before
// anything is made that large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cosmic::compile::artifact {

class ByteWriter {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void u32(std::uint32_t value);
  void u64(std::uint64_t value);
  void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
  void real(double value);
  /// How many follow.
  void count(std::size_t value) { u64(value); }
  void text(std::string_view value);

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Every function throws DataError that names the byte if there is not enough left or it cannot be
/// what is asked for.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t u8();
  std::uint32_t u32();
  std::uint64_t u64();
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  double real();
  /// How many follow, `least_bytes` or more each.
  std::size_t count(std::size_t least_bytes);
  std::string_view text();

  std::size_t left() const { return bytes_.size() - at_; }
  /// Throws DataError unless everything has been read.
  void require_end() const;
  /// Throws DataError with the place and the reason unless `ok`.
  void require(bool ok, std::string_view problem) const;

 private:
  std::string_view take(std::size_t bytes);

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace cosmic::compile::artifact
