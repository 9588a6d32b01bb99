#include "data/larcv/hdf5/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "data/larcv/hdf5/advice.hpp"
#include "data/larcv/hdf5/block_reader.hpp"

namespace cosmic::data::larcv::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
// A user block comes first, if at all, and its size is this or this times a power of two.
constexpr std::uint64_t kFirstUserBlock = 512;
// Enough for a superblock of any version with addresses of 8 bytes.
constexpr std::size_t kSuperblockBytes = 104;
constexpr std::size_t kSmallestSuperblock = 48;
constexpr unsigned kNewestSuperblock = 3;
constexpr std::uint64_t kAlwaysDescribed = std::uint64_t{64} << 20;
constexpr std::uint64_t kDescribedPerByte = 16;
constexpr unsigned kAddressBytes = 8;
constexpr std::string_view kSuperblock = "the superblock";

}  // namespace

File::File(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe would wait for somebody to write into it.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  COSMIC_REQUIRE(DataError, descriptor_ >= 0,
                 "cannot be opened (" << std::strerror(errno)
                                      << "); check the name and whether you may read it");
  try {
    struct stat status {};
    COSMIC_REQUIRE(DataError, fstat(descriptor_, &status) == 0,
                   "cannot be examined (" << std::strerror(errno) << "); copy it elsewhere");
    COSMIC_REQUIRE(DataError, S_ISREG(status.st_mode),
                   "is " << (S_ISDIR(status.st_mode) ? "a folder" : "no ordinary file")
                         << " (events are read from HDF5 files); name files, such as folder/*.h5");
    size_ = static_cast<std::uint64_t>(status.st_size);
    find_superblock();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

File::~File() {
  close(descriptor_);
}

bool File::contains(std::uint64_t address, std::uint64_t bytes) const {
  return address <= this->bytes() && bytes <= this->bytes() - address;
}

void File::read(std::uint64_t address, std::span<std::byte> to, std::string_view what) const {
  COSMIC_REQUIRE(DataError, address != kNoAddress,
                 what << " is not stored (its address is undefined); " << kDamaged);
  COSMIC_REQUIRE(DataError, contains(address, to.size()),
                 what << " should be " << to.size() << " bytes at address " << address
                      << " (the file has " << bytes() << " bytes); " << kCutShort);
  read_bytes(base_ + address, to, what);
}

std::vector<std::byte> File::read(std::uint64_t address, std::size_t bytes,
                                  std::string_view what) const {
  COSMIC_REQUIRE(DataError, bytes <= this->bytes(),
                 what << " should have " << bytes << " bytes (the file has " << this->bytes()
                      << "); " << kCutShort);
  // Every table is opened a few times at most; small files are opened often in tests and tools.
  const std::uint64_t most = kAlwaysDescribed + kDescribedPerByte * this->bytes();
  COSMIC_REQUIRE(DataError, described_.fetch_add(bytes) + bytes <= most,
                 what << " is part of descriptions of more than " << most << " bytes (the file has "
                      << this->bytes() << "; they refer to each other in circles); " << kDamaged);
  std::vector<std::byte> block(bytes);
  read(address, block, what);
  return block;
}

void File::read_bytes(std::uint64_t offset, std::span<std::byte> to, std::string_view what) const {
  while (!to.empty()) {
    const ssize_t done = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    COSMIC_REQUIRE(DataError, done > 0,
                   what << " cannot be read at byte " << offset << " ("
                        << (done < 0 ? std::strerror(errno) : "the file has become shorter")
                        << "); check the disk and copy the file again");
    offset += static_cast<std::uint64_t>(done);
    to = to.subspan(static_cast<std::size_t>(done));
  }
}

void File::find_superblock() {
  COSMIC_REQUIRE(DataError, size_ > 0, "is empty (0 bytes); copy or make it again");
  for (std::uint64_t offset = 0; offset < size_ && size_ - offset >= kSignature.size();
       offset = offset == 0 ? kFirstUserBlock : offset * 2) {
    std::array<char, kSignature.size()> start{};
    read_bytes(offset, std::as_writable_bytes(std::span(start)), kSuperblock);
    if (std::equal(start.begin(), start.end(), kSignature.begin())) {
      read_superblock(offset);
      return;
    }
  }
  throw DataError(
      "is not an HDF5 file (it does not start with HDF5's signature); larcv3 files end in .h5");
}

void File::read_superblock(std::uint64_t offset) {
  std::vector<std::byte> block(
      static_cast<std::size_t>(std::min<std::uint64_t>(kSuperblockBytes, size_ - offset)));
  COSMIC_REQUIRE(DataError, block.size() >= kSmallestSuperblock,
                 "ends after " << size_ << " bytes, in its superblock; " << kCutShort);
  read_bytes(offset, block, kSuperblock);
  ByteReader cursor = block_reader(block, kSuperblock);
  expect_signature(cursor, kSignature);
  const unsigned version = cursor.u8();
  COSMIC_REQUIRE(DataError, version <= kNewestSuperblock,
                 "has a superblock of version " << version << " (known are 0 to "
                                                << kNewestSuperblock << "); " << kRepack);
  const bool old = version < 2;
  if (old) {
    cursor.skip(4);  // versions of parts that never had another
  }
  const unsigned address_bytes = cursor.u8();
  const unsigned length_bytes = cursor.u8();
  COSMIC_REQUIRE(DataError, address_bytes == kAddressBytes && length_bytes == kAddressBytes,
                 "has addresses of " << address_bytes << " and lengths of " << length_bytes
                                     << " bytes (both must have " << kAddressBytes << "); "
                                     << kRepack);
  if (old) {
    cursor.skip(version == 0 ? 9 : 13);  // sizes of tree nodes, which the nodes say themselves
  } else {
    cursor.skip(1);
  }
  base_ = cursor.u64();
  COSMIC_REQUIRE(DataError, base_ == offset,
                 "says that its addresses count from byte "
                     << base_ << " (its superblock is at byte " << offset << "); " << kDamaged);
  cursor.skip(8);  // where the free space or the extension of the superblock is
  const std::uint64_t end = cursor.u64();
  COSMIC_REQUIRE(DataError, end <= size_,
                 "has " << size_ << " bytes, but says that it has " << end << "; " << kCutShort);
  if (old) {
    cursor.skip(16);  // the driver's block, and the name of the root group, which has none
  }
  root_ = cursor.u64();
}

}  // namespace cosmic::data::larcv::hdf5
