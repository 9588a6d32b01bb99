#include "data/idx/idx_file.hpp"

#include <span>
#include <utility>

#include "core/error.hpp"
#include "data/idx/gzip.hpp"

namespace cosmic::data {
namespace {

constexpr std::size_t kMagicBytes = 4;  // 0, 0, type, rank
constexpr std::size_t kExtentBytes = 4;
constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kMostAxes = 4;

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

/// The number of axes, once the magic number has turned out to be right.
std::size_t rank_of(std::span<const std::uint8_t> bytes, const std::filesystem::path& path) {
  COSMIC_REQUIRE(DataError, bytes.size() >= kMagicBytes,
                 path.string() << ": has " << bytes.size()
                               << " bytes, too few for an IDX file; it is truncated, fetch it "
                                  "again");
  COSMIC_REQUIRE(DataError, bytes[0] == 0 && bytes[1] == 0,
                 path.string() << ": starts with the bytes " << int{bytes[0]} << ", "
                               << int{bytes[1]}
                               << " (an IDX file starts with 0, 0); is it the right file?");
  COSMIC_REQUIRE(DataError, bytes[2] == kUnsignedByte,
                 path.string() << ": holds values of IDX type " << int{bytes[2]}
                               << " (only unsigned bytes, type 8, are read); is it the right "
                                  "file?");
  const std::size_t rank = bytes[3];
  COSMIC_REQUIRE(DataError, rank >= 1 && rank <= kMostAxes,
                 path.string() << ": states " << rank << " axes (1 to " << kMostAxes
                               << " are read); is it the right file?");
  return rank;
}

}  // namespace

std::string IdxArray::shape_text() const {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  }
  return text + "]";
}

IdxArray read_idx(const std::filesystem::path& path) {
  std::vector<std::uint8_t> bytes = read_maybe_gzipped(path);
  const std::size_t rank = rank_of(bytes, path);
  const std::size_t header = kMagicBytes + rank * kExtentBytes;
  COSMIC_REQUIRE(DataError, bytes.size() >= header,
                 path.string() << ": has " << bytes.size() << " bytes, but its header alone takes "
                               << header << "; it is truncated, fetch it again");
  const std::uint64_t stored = bytes.size() - header;
  IdxArray array;
  // Four extents below 2^32 can overflow 64 bits. Once the product of those seen is beyond what is
  // stored, only a zero among the rest could make it right.
  std::uint64_t expected = 1;
  bool too_many = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint32_t extent =
        big_endian(std::span(bytes).subspan(kMagicBytes + axis * kExtentBytes, kExtentBytes));
    array.shape.push_back(extent);
    too_many = extent != 0 && (too_many || expected > stored / extent);
    expected = too_many ? 1 : expected * extent;
  }
  COSMIC_REQUIRE(DataError, !too_many && expected == stored,
                 path.string() << ": states an array " << array.shape_text() << " but holds "
                               << stored << " values; it is truncated or damaged, fetch it again");
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  array.values = std::move(bytes);
  return array;
}

}  // namespace cosmic::data
