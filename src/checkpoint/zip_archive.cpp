#include "checkpoint/zip_archive.hpp"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "core/byte_reader.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::checkpoint {
namespace {

// Signatures and fixed sizes of the records (APPNOTE.TXT 4.3).
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kWideEnd = 0x06064b50;
constexpr std::uint32_t kWideEndLocator = 0x07064b50;
constexpr std::uint64_t kLocalHeaderBytes = 30;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kWideEndBytes = 56;
constexpr std::uint64_t kWideEndLocatorBytes = 20;
constexpr std::uint16_t kWideField = 1;  // extra field with numbers of 64 bits
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kStored = 0;
// A number that does not fit its narrow field stands in the extra field.
constexpr std::uint32_t kElsewhere = 0xffffffff;
constexpr std::uint16_t kElsewhere16 = 0xffff;

// The largest networks people train have some thousand tensors; more is damage, or an attack on our
// memory.
constexpr std::uint64_t kMaxEntries = 200'000;
constexpr std::uint64_t kMaxDirectoryBytes = 64 << 20;

constexpr const char* kDamaged = "the file is damaged or was not written by PyTorch; copy it again";

[[noreturn]] void fail(const std::string& what) {
  throw DataError(what + "; " + kDamaged);
}

void require(bool ok, const std::string& what) {
  if (!ok) {
    fail(what);
  }
}

struct WideNumbers {
  std::uint64_t bytes;
  std::uint64_t stored_bytes;
  std::uint64_t header;
};

/// Replaces the numbers that say that they stand in the extra field.
void widen(WideNumbers& numbers, std::span<const std::byte> extra, const std::string& name) {
  std::vector<std::uint64_t*> missing;
  for (std::uint64_t* number : {&numbers.bytes, &numbers.stored_bytes, &numbers.header}) {
    if (*number == kElsewhere) {
      missing.push_back(number);
    }
  }
  ByteReader fields(extra, "the extra field of entry " + printable(name), kDamaged);
  while (!missing.empty() && fields.left() > 0) {
    const auto kind = fields.u16();
    const auto length = fields.u16();
    ByteReader field(fields.take(length), "the 64-bit numbers of entry " + printable(name),
                     kDamaged);
    if (kind == kWideField) {
      for (std::uint64_t* number : missing) {
        *number = field.u64();
      }
      missing.clear();
    }
  }
  require(missing.empty(), "entry " + printable(name) +
                               " announces 64-bit numbers but has none (where are its bytes?)");
}

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& path)
    : descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  const int reason = errno;
  COSMIC_REQUIRE(DataError, descriptor_ >= 0,
                 "cannot be read (" << std::strerror(reason) << "); is the path right?");
  try {
    struct stat status {};
    require(fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode), "it is not a file");
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    const Directory directory = find_directory();
    read_directory(directory);
    refuse_overlaps(directory);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

ZipArchive::~ZipArchive() {
  close(descriptor_);
}

bool ZipArchive::is_archive(const std::filesystem::path& path) {
  std::uint32_t signature = 0;
  std::error_code unknown;  // opening a pipe would wait
  std::ifstream file(std::filesystem::is_regular_file(path, unknown) ? path : "", std::ios::binary);
  file.read(reinterpret_cast<char*>(&signature), sizeof(signature));
  return file.good() && signature == kLocalHeader;
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> result;
  for (const auto& [name, entry] : entries_) {
    result.push_back(name);
  }
  return result;
}

std::vector<std::byte> ZipArchive::read_at(std::uint64_t offset, std::uint64_t bytes,
                                           const std::string& what) const {
  require(offset <= file_bytes_ && bytes <= file_bytes_ - offset,
          what + " lies from byte " + std::to_string(offset) + " for " + std::to_string(bytes) +
              " bytes (the file has " + std::to_string(file_bytes_) + ")");
  std::vector<std::byte> result(bytes);
  std::size_t done = 0;
  while (done < result.size()) {
    const ssize_t got = pread(descriptor_, result.data() + done, result.size() - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    const int reason = errno;
    COSMIC_REQUIRE(DataError, got > 0,
                   what << " cannot be read ("
                        << (got == 0 ? "the file has become shorter" : std::strerror(reason))
                        << "); copy the file again");
    done += static_cast<std::size_t>(got);
  }
  return result;
}

/// The end record is the last thing in the file: an archive with a comment, or with anything after
/// it, is one that several readers may understand in several ways.
ZipArchive::Directory ZipArchive::find_directory() const {
  require(file_bytes_ >= kEndBytes,
          "it has " + std::to_string(file_bytes_) + " bytes (too few for an archive)");
  const std::uint64_t end_begin = file_bytes_ - kEndBytes;
  const std::vector<std::byte> end_bytes = read_at(end_begin, kEndBytes, "the end record");
  ByteReader end(end_bytes, "the end record", kDamaged);
  require(end.u32() == kEnd, "there is no end record in the last " + std::to_string(kEndBytes) +
                                 " bytes (the archive is cut short, or something follows it)");
  const auto disk = end.u16();
  const auto directory_disk = end.u16();
  const auto entries_here = end.u16();
  const auto entries = end.u16();
  Directory directory;
  directory.bytes = end.u32();
  directory.begin = end.u32();
  directory.entries = entries;
  require(disk == 0 && directory_disk == 0 && entries_here == entries,
          "the archive is split into several parts (only single-part archives are supported)");

  std::uint64_t directory_limit = end_begin;
  if (end_begin >= kWideEndLocatorBytes) {
    const std::vector<std::byte> locator_bytes =
        read_at(end_begin - kWideEndLocatorBytes, kWideEndLocatorBytes, "the end locator");
    ByteReader locator(locator_bytes, "the end locator", kDamaged);
    if (locator.u32() == kWideEndLocator) {
      locator.u32();  // disk
      const auto wide_begin = locator.u64();
      require(
          wide_begin <= end_begin && end_begin - wide_begin == kWideEndBytes + kWideEndLocatorBytes,
          "the 64-bit end record is said to start at byte " + std::to_string(wide_begin) +
              " (it must stand right before byte " + std::to_string(end_begin) + ")");
      const std::vector<std::byte> wide_bytes =
          read_at(wide_begin, kWideEndBytes, "the 64-bit end record");
      ByteReader wide(wide_bytes, "the 64-bit end record", kDamaged);
      require(wide.u32() == kWideEnd, "there is no 64-bit end record");
      // its own length, versions, disks, entries of this disk
      wide.skip(sizeof(std::uint64_t) + 2 * sizeof(std::uint16_t) + 2 * sizeof(std::uint32_t) +
                sizeof(std::uint64_t));
      const Directory narrow = directory;
      directory.entries = wide.u64();
      directory.bytes = wide.u64();
      directory.begin = wide.u64();
      const auto agrees = [](std::uint64_t small, std::uint64_t large, std::uint64_t elsewhere) {
        return small == large || small == elsewhere;
      };
      require(agrees(narrow.entries, directory.entries, kElsewhere16) &&
                  agrees(narrow.bytes, directory.bytes, kElsewhere) &&
                  agrees(narrow.begin, directory.begin, kElsewhere),
              "the two end records disagree (two readers would see two archives)");
      directory_limit = wide_begin;
    }
  }
  require(directory.entries <= kMaxEntries && directory.bytes <= kMaxDirectoryBytes,
          "the archive says that it has " + std::to_string(directory.entries) +
              " entries in a directory of " + std::to_string(directory.bytes) + " bytes (at most " +
              std::to_string(kMaxEntries) + " and " + std::to_string(kMaxDirectoryBytes) +
              " are read)");
  require(
      directory.begin <= directory_limit && directory_limit - directory.begin == directory.bytes,
      "the directory is said to have " + std::to_string(directory.bytes) + " bytes from byte " +
          std::to_string(directory.begin) + " (it must end at byte " +
          std::to_string(directory_limit) + ")");
  return directory;
}

void ZipArchive::read_directory(const Directory& directory) {
  const std::vector<std::byte> bytes = read_at(directory.begin, directory.bytes, "the directory");
  ByteReader reader(bytes, "the directory", kDamaged);
  for (std::uint64_t number = 0; number < directory.entries; ++number) {
    require(reader.u32() == kDirectoryEntry,
            "entry " + std::to_string(number) + " of the directory is invalid");
    reader.skip(2 * sizeof(std::uint16_t));  // versions
    const auto flags = reader.u16();
    const auto method = reader.u16();
    reader.skip(2 * sizeof(std::uint16_t));  // time and date
    Entry entry;
    entry.checksum = reader.u32();
    WideNumbers numbers{};
    numbers.stored_bytes = reader.u32();
    numbers.bytes = reader.u32();
    const auto name_bytes = reader.u16();
    const auto extra_bytes = reader.u16();
    const auto comment_bytes = reader.u16();
    // disk and attributes
    reader.skip(2 * sizeof(std::uint16_t) + sizeof(std::uint32_t));
    numbers.header = reader.u32();
    const std::string name(reader.text(name_bytes));
    widen(numbers, reader.take(extra_bytes), name);
    reader.skip(comment_bytes);

    require((flags & kEncrypted) == 0, "entry " + printable(name) + " is encrypted");
    require(method == kStored && numbers.bytes == numbers.stored_bytes,
            "entry " + printable(name) + " is compressed (PyTorch stores entries as they are)");
    entry.header = numbers.header;
    entry.bytes = numbers.bytes;
    require(entries_.emplace(name, entry).second,
            "entry " + printable(name) + " is there twice (which of the two is meant?)");
  }
  reader.require(reader.left() == 0, "continues after its last entry");
}

/// Entries that share bytes let a small file pretend to be a large one.
void ZipArchive::refuse_overlaps(const Directory& directory) const {
  struct Extent {
    std::uint64_t begin;
    std::uint64_t end;
    const std::string* name;
  };
  std::vector<Extent> extents;
  for (const auto& [name, entry] : entries_) {
    // The extra field of the local header, of unknown length, comes on top; data_begin() sees it.
    const std::uint64_t least = kLocalHeaderBytes + name.size();
    require(entry.header <= directory.begin && least <= directory.begin - entry.header &&
                entry.bytes <= directory.begin - entry.header - least,
            "entry " + printable(name) + " has " + std::to_string(entry.bytes) +
                " bytes from byte " + std::to_string(entry.header) +
                " (the directory starts at byte " + std::to_string(directory.begin) + ")");
    extents.push_back({entry.header, entry.header + least + entry.bytes, &name});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    require(extents[i - 1].end <= extents[i].begin, "entries " + printable(*extents[i - 1].name) +
                                                        " and " + printable(*extents[i].name) +
                                                        " overlap");
  }
}

const ZipArchive::Entry& ZipArchive::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  require(found != entries_.end(), "there is no entry " + printable(name) + " (it is needed)");
  return found->second;
}

std::uint64_t ZipArchive::data_begin(const std::string& name, const Entry& entry) const {
  const std::string what = "the header of entry " + printable(name);
  const std::vector<std::byte> bytes = read_at(entry.header, kLocalHeaderBytes + name.size(), what);
  ByteReader reader(bytes, what, kDamaged);
  require(reader.u32() == kLocalHeader, what + " is invalid");
  reader.skip(sizeof(std::uint16_t));  // version
  const auto flags = reader.u16();
  const auto method = reader.u16();
  // time, date, checksum and sizes: the directory's count, these may come after the data
  reader.skip(2 * sizeof(std::uint16_t) + 3 * sizeof(std::uint32_t));
  const auto name_bytes = reader.u16();
  const auto extra_bytes = reader.u16();
  require((flags & kEncrypted) == 0 && method == kStored && name_bytes == name.size() &&
              reader.text(name.size()) == name,
          what + " contradicts the directory");
  return entry.header + kLocalHeaderBytes + name_bytes + extra_bytes;
}

std::vector<std::byte> ZipArchive::read(const std::string& name) const {
  const Entry& wanted = entry(name);
  std::vector<std::byte> bytes =
      read_at(data_begin(name, wanted), wanted.bytes, "entry " + printable(name));
  require(libdeflate_crc32(0, bytes.data(), bytes.size()) == wanted.checksum,
          "the checksum of entry " + printable(name) + " is wrong (its bytes have changed)");
  return bytes;
}

}  // namespace cosmic::checkpoint
