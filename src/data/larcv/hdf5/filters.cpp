#include "data/larcv/hdf5/filters.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"
#include "data/larcv/hdf5/unsupported.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr std::size_t kChecksumBytes = 4;
// HDF5 has room for 32 filters in a mask.
constexpr std::size_t kMaxFilters = 32;
constexpr std::uint64_t kBestDeflateRatio = 1032;
constexpr unsigned kFirstPluginFilter = 256;

std::string filter_name(unsigned id, const std::string& stored_name) {
  constexpr const char* kBuiltIn[] = {"none", "deflate", "shuffle",    "fletcher32",
                                      "szip", "nbit",    "scaleoffset"};
  if (id < std::size(kBuiltIn)) {
    return kBuiltIn[id];
  }
  return stored_name;
}

/// HDF5's checksum: Fletcher's over big-endian words of 16 bits; an odd byte counts as a high one.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  std::size_t at = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  while (at < bytes.size()) {
    // So many words fit before a sum can overflow 32 bits.
    constexpr std::size_t kWordsPerFold = 360;
    for (std::size_t word = 0; word < kWordsPerFold && at < bytes.size(); ++word) {
      const auto high = std::to_integer<std::uint32_t>(bytes[at]);
      const auto low = at + 1 < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + 1]) : 0;
      sum1 += high << 8 | low;
      sum2 += sum1;
      at += 2;
    }
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  return fold(sum2) << 16 | fold(sum1);
}

std::span<const std::byte> without_checksum(std::span<const std::byte> bytes) {
  COSMIC_REQUIRE(DataError, bytes.size() >= kChecksumBytes,
                 "has " << bytes.size() << " bytes, fewer than its checksum; " << kDamaged);
  const auto content = bytes.first(bytes.size() - kChecksumBytes);
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + content.size(), kChecksumBytes);
  const std::uint32_t computed = fletcher32(content);
  COSMIC_REQUIRE(
      DataError, stored == computed,
      "has the checksum " << stored << " but its bytes give " << computed << "; " << kDamaged);
  return content;
}

/// Byte k of every row was stored together with byte k of the others.
void unshuffle(std::span<const std::byte> from, std::size_t row_bytes, std::span<std::byte> to) {
  const std::size_t rows = from.size() / row_bytes;
  for (std::size_t byte = 0; byte < row_bytes; ++byte) {
    for (std::size_t row = 0; row < rows; ++row) {
      to[row * row_bytes + byte] = from[byte * rows + row];
    }
  }
  const std::size_t shuffled = rows * row_bytes;
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(shuffled), from.end(),
            to.begin() + static_cast<std::ptrdiff_t>(shuffled));
}

}  // namespace

Filters read_filters(ByteReader cursor) {
  const unsigned version = cursor.u8();
  COSMIC_REQUIRE_SUPPORTED(version == 1 || version == 2,
                           cursor.what() << " has a list of filters of version " << version
                                         << " (known are 1 and 2); " << kRepack);
  const std::size_t count = cursor.u8();
  COSMIC_REQUIRE(DataError, count <= kMaxFilters,
                 cursor.what() << " has " << count << " filters (HDF5 allows " << kMaxFilters
                               << "); " << kDamaged);
  cursor.skip(version == 1 ? 6 : 0);
  Filters filters;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned id = cursor.u16();
    const std::size_t name_bytes = version == 1 || id >= kFirstPluginFilter ? cursor.u16() : 0;
    cursor.skip(2);  // whether it may be left out; the mask of each chunk says whether it was
    const std::size_t values = cursor.u16();
    ByteReader stored_name = block_reader(cursor.take(name_bytes), cursor.what());
    const std::string name = name_bytes > 0 ? read_name(stored_name) : "unnamed";
    ByteReader settings = block_reader(cursor.take(values * 4), cursor.what());
    cursor.skip(version == 1 && values % 2 == 1 ? 4 : 0);
    COSMIC_REQUIRE_SUPPORTED(
        id >= static_cast<unsigned>(FilterKind::deflate) &&
            id <= static_cast<unsigned>(FilterKind::fletcher32),
        cursor.what() << " is packed with filter " << id << ", '" << filter_name(id, name)
                      << "' (deflate, shuffle and fletcher32 can be unpacked; plugins "
                      << "are never loaded); rewrite the file with "
                      << "`h5repack -f GZIP=1 OLD NEW`");
    Filter filter{static_cast<FilterKind>(id)};
    if (filter.kind == FilterKind::deflate && values > 0) {
      filter.level = settings.u32();
    }
    filters.push_back(filter);
  }
  return filters;
}

std::uint64_t least_packed_bytes(const Filters& filters, std::uint64_t bytes) {
  for (const Filter& filter : filters) {
    if (filter.kind == FilterKind::deflate) {
      bytes = (bytes + kBestDeflateRatio - 1) / kBestDeflateRatio;
    }
  }
  return bytes;
}

struct Unpacker::Inflater {
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();

  Inflater() { COSMIC_REQUIRE(TargetError, decompressor != nullptr, "out of memory"); }
  ~Inflater() { libdeflate_free_decompressor(decompressor); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void inflate(std::span<const std::byte> packed, std::span<std::byte> to) const {
    std::size_t written = 0;
    const libdeflate_result result = libdeflate_zlib_decompress(
        decompressor, packed.data(), packed.size(), to.data(), to.size(), &written);
    COSMIC_REQUIRE(DataError, result != LIBDEFLATE_BAD_DATA,
                   "is not a valid deflate stream of " << packed.size() << " bytes; " << kDamaged);
    COSMIC_REQUIRE(
        DataError, result == LIBDEFLATE_SUCCESS && written == to.size(),
        "inflates to " << (result == LIBDEFLATE_SUCCESS ? std::to_string(written)
                                                        : "more than " + std::to_string(to.size()))
                       << " bytes (its rows need " << to.size() << "); " << kDamaged);
  }
};

Unpacker::Unpacker() : inflater_(std::make_unique<Inflater>()) {}
Unpacker::~Unpacker() = default;

void Unpacker::unpack(const Filters& filters, std::uint32_t skipped, std::size_t row_bytes,
                      std::span<const std::byte> packed, std::span<std::byte> to) {
  const auto applied = [&](std::size_t i) { return (skipped >> i & 1) == 0; };
  // Checksums that were added before deflate came, and are still to be taken off after it.
  std::size_t checksums = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    checksums += applied(i) && filters[i].kind == FilterKind::fletcher32 ? 1 : 0;
  }
  // The last unpacking writes to `to` where its result has that size; else memory of ours does.
  std::size_t scratch = 0;
  const auto room = [&](std::size_t bytes, bool last) {
    if (last && bytes == to.size()) {
      return to;
    }
    scratch_[scratch].resize(bytes);
    return std::span(scratch_[std::exchange(scratch, 1 - scratch)]);
  };
  for (std::size_t i = filters.size(); i-- > 0;) {
    if (!applied(i)) {
      continue;
    }
    switch (filters[i].kind) {
      case FilterKind::fletcher32:
        packed = without_checksum(packed);
        --checksums;
        break;
      case FilterKind::deflate: {
        const auto inflated = room(to.size() + checksums * kChecksumBytes, i == 0);
        inflater_->inflate(packed, inflated);
        packed = inflated;
        break;
      }
      case FilterKind::shuffle: {
        const auto ordered = room(packed.size(), i == 0);
        unshuffle(packed, row_bytes, ordered);
        packed = ordered;
        break;
      }
    }
  }
  COSMIC_REQUIRE(
      DataError, packed.size() == to.size(),
      "unpacks to " << packed.size() << " bytes (its rows need " << to.size() << "); " << kDamaged);
  if (packed.data() != to.data()) {
    std::copy(packed.begin(), packed.end(), to.begin());
  }
}

}  // namespace cosmic::data::larcv::hdf5
