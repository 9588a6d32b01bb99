#include "data/idx/gzip.hpp"

#include <libdeflate.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>

#include "core/error.hpp"
#include "core/regular_file.hpp"

namespace cosmic::data {
namespace {

constexpr std::uint8_t kGzipMagic[] = {0x1f, 0x8b};
constexpr std::size_t kGzipLeastBytes = 18;  // header 10, trailer 8
// No deflate stream gets below this: 258 bytes for two bits is its best case.
constexpr std::uint64_t kMostInflation = 1032;
// Fashion-MNIST's largest file has 47 MB. The limit keeps a damaged length from taking all memory.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(regular_file(path), std::ios::binary);
  const int reason = errno;
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  COSMIC_REQUIRE(DataError, file.is_open() && !error,
                 path.string() << ": cannot be read ("
                               << (error ? error.message() : std::strerror(reason))
                               << "); is the path right?");
  COSMIC_REQUIRE(DataError, size <= kMostBytes,
                 path.string() << ": has " << size << " bytes (an IDX file of at most "
                               << kMostBytes << " is expected); is it the right file?");
  std::vector<std::uint8_t> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  COSMIC_REQUIRE(DataError, static_cast<std::uint64_t>(file.gcount()) == size,
                 path.string() << ": only " << file.gcount() << " of " << size
                               << " bytes could be read (the disk failed, or the file is being "
                                  "written); try again");
  return bytes;
}

bool is_gzipped(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= kGzipLeastBytes &&
         std::memcmp(bytes.data(), kGzipMagic, sizeof(kGzipMagic)) == 0;
}

/// The size before compression, modulo 2^32: the last four bytes, little-endian.
std::uint32_t stated_size(std::span<const std::uint8_t> gzipped) {
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= static_cast<std::uint32_t>(gzipped[gzipped.size() - 4 + i]) << (8 * i);
  }
  return size;
}

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> gzipped,
                                 const std::filesystem::path& path) {
  const std::uint64_t size = stated_size(gzipped);
  COSMIC_REQUIRE(DataError, size <= kMostBytes && size <= gzipped.size() * kMostInflation,
                 path.string() << ": states " << size << " bytes for a gzip stream of "
                               << gzipped.size()
                               << " (more than it can hold); the file is truncated or damaged, "
                                  "fetch it again");
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>
      decompressor(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  COSMIC_REQUIRE(DataError, decompressor != nullptr,
                 path.string() << ": not enough memory to decompress it; close other programs");
  std::vector<std::uint8_t> bytes(size);
  std::size_t read = 0;
  const libdeflate_result result =
      libdeflate_gzip_decompress_ex(decompressor.get(), gzipped.data(), gzipped.size(),
                                    bytes.data(), bytes.size(), &read, nullptr);
  COSMIC_REQUIRE(DataError, result == LIBDEFLATE_SUCCESS && read == gzipped.size(),
                 path.string() << ": its gzip stream of " << gzipped.size()
                               << " bytes does not decompress to the " << size
                               << " bytes it states; the file is truncated or damaged, fetch it "
                                  "again");
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> read_maybe_gzipped(const std::filesystem::path& path) {
  std::vector<std::uint8_t> bytes = read_bytes(path);
  return is_gzipped(bytes) ? gunzip(bytes, path) : bytes;
}

}  // namespace cosmic::data
