#include "data/larcv/hdf5/content_sum.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr std::uint64_t kModulus = 65521;
constexpr std::uint32_t kSumOfNothing = 1;
constexpr std::size_t kSumBytes = 4;
constexpr std::uint64_t kLeastZlibBytes = 6;  // a header of two, and the sum

/// Adler-32 is two sums modulo 65521: of the bytes, and of the first sum after each byte.
struct Adler {
  std::uint64_t bytes_sum = kSumOfNothing;
  std::uint64_t sums_sum = 0;

  static Adler of(std::uint32_t adler) { return {adler & 0xffff, adler >> 16}; }
  std::uint32_t value() const { return static_cast<std::uint32_t>(sums_sum << 16 | bytes_sum); }

  /// Of these bytes and then `bytes` more, whose own sum is `next`.
  void append(const Adler& next, std::uint64_t bytes) {
    const std::uint64_t before = bytes_sum + kModulus - kSumOfNothing;  // without the start of next
    sums_sum = (sums_sum + next.sums_sum + bytes % kModulus * before) % kModulus;
    bytes_sum = (before + next.bytes_sum) % kModulus;
  }
  /// Of the same bytes without that many zeros at their end.
  void remove_zeros(std::uint64_t bytes) {
    const std::uint64_t added = bytes % kModulus * bytes_sum % kModulus;
    sums_sum = (sums_sum + kModulus - added) % kModulus;
  }
};

/// The last bytes of a zlib stream, the highest first.
std::uint32_t sum_in(std::span<const std::byte> last_bytes) {
  std::uint32_t adler = 0;
  for (const std::byte byte : last_bytes) {
    adler = adler << 8 | std::to_integer<std::uint32_t>(byte);
  }
  return adler;
}

}  // namespace

ContentSum::ContentSum(const Dataset& dataset)
    : dataset_(dataset),
      kept_(std::make_unique<std::atomic<std::uint32_t>[]>(dataset.chunks.size())) {}

bool ContentSum::is_deflated_alone(std::uint64_t chunk) const {
  return dataset_.filters.size() == 1 && dataset_.filters.front().kind == FilterKind::deflate &&
         (dataset_.chunks[chunk].skipped_filters & 1) == 0;
}

void ContentSum::keep(std::uint64_t chunk, std::span<const std::byte> packed) {
  if (is_deflated_alone(chunk) && packed.size() >= kLeastZlibBytes) {
    kept_[chunk].store(sum_in(packed.last(kSumBytes)), std::memory_order_relaxed);
  }
}

std::uint32_t ContentSum::stored_sum(const File& file, std::uint64_t chunk) const {
  if (const std::uint32_t kept = kept_[chunk].load(std::memory_order_relaxed); kept != 0) {
    return kept;
  }
  const Chunk& place = dataset_.chunks[chunk];
  COSMIC_REQUIRE(DataError, place.bytes >= kLeastZlibBytes,
                 dataset_.what << ": chunk " << chunk << " has " << place.bytes
                               << " bytes (the shortest deflate stream has " << kLeastZlibBytes
                               << "); " << kDamaged);
  std::array<std::byte, kSumBytes> last_bytes{};
  file.read(place.address + place.bytes - kSumBytes, last_bytes, dataset_.what);
  const std::uint32_t sum = sum_in(last_bytes);
  kept_[chunk].store(sum, std::memory_order_relaxed);
  return sum;
}

std::uint32_t ContentSum::value(const File& file) const {
  const std::uint64_t row_bytes = dataset_.type.bytes;
  Adler whole;
  Unpacker unpacker;
  std::vector<std::byte> packed;
  std::vector<std::byte> rows;
  for (std::size_t number = 0; number < dataset_.chunks.size(); ++number) {
    const Chunk& chunk = dataset_.chunks[number];
    const std::uint64_t stored_bytes = dataset_.rows_in(number) * row_bytes;
    const std::uint64_t bytes =
        std::min(dataset_.chunk_rows, dataset_.rows - number * dataset_.chunk_rows) * row_bytes;
    if (is_deflated_alone(number)) {
      Adler sum = Adler::of(stored_sum(file, number));
      sum.remove_zeros(stored_bytes - bytes);  // rows that the table does not have
      whole.append(sum, bytes);
      continue;
    }
    packed.resize(chunk.bytes);
    rows.resize(stored_bytes);
    file.read(chunk.address, packed, dataset_.what);
    unpacker.unpack(dataset_.filters, chunk.skipped_filters, row_bytes, packed, rows);
    whole.append(Adler::of(libdeflate_adler32(kSumOfNothing, rows.data(), bytes)), bytes);
  }
  return whole.value();
}

}  // namespace cosmic::data::larcv::hdf5
