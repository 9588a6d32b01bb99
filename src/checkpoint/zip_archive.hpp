// Reads the archives that the reference's framework writes: zip files whose entries are stored as
// they are. A reader of our own, because nothing else is needed of the format: without compression
// there is no bomb, without extraction there is no path, and each size is checked against the file
// before memory is taken for it. Errors are DataErrors that name the entry; whoever knows the
// file's name adds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cosmic::checkpoint {

class ZipArchive {
 public:
  /// Reads and checks the directory. Throws DataError if the file is not such an archive.
  explicit ZipArchive(const std::filesystem::path& path);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  /// Whether a file starts as an archive does.
  static bool is_archive(const std::filesystem::path& path);

  std::uint64_t file_bytes() const { return file_bytes_; }
  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return entries_.contains(name); }
  /// Throws DataError if there is no such entry.
  std::uint64_t bytes(const std::string& name) const { return entry(name).bytes; }
  /// The content of an entry, its checksum verified.
  std::vector<std::byte> read(const std::string& name) const;

 private:
  struct Entry {
    std::uint64_t header = 0;  ///< where its local header starts
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
  };
  struct Directory {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
  };

  std::vector<std::byte> read_at(std::uint64_t offset, std::uint64_t bytes,
                                 const std::string& what) const;
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  void refuse_overlaps(const Directory& directory) const;
  const Entry& entry(const std::string& name) const;
  /// Where the bytes of an entry start: its local header says so.
  std::uint64_t data_begin(const std::string& name, const Entry& entry) const;

  int descriptor_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace cosmic::checkpoint
