// Writes zip archives the way the reference's framework does: entries stored, sizes after the data,
// a 64-bit end record. With ways to get each part of it wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace cosmic::checkpoint {

struct ArchiveEntry {
  std::string name;
  std::string content;
};

/// The fields of an entry's record in the directory, before they are written.
struct ArchiveRecord {
  std::string name;
  std::uint16_t flags = 0x0808;  ///< sizes follow the data; the name is UTF-8
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t bytes = 0;
  std::uint32_t header = 0;
  std::string extra;
};

struct ArchiveEnd {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t begin = 0;
};

/// Called before a record, or the end, is written.
struct ArchiveFaults {
  std::function<void(ArchiveRecord&)> record = [](ArchiveRecord&) {};
  std::function<void(ArchiveEnd&)> narrow_end = [](ArchiveEnd&) {};
  std::function<void(ArchiveEnd&)> wide_end = [](ArchiveEnd&) {};
};

std::string archive_of(const std::vector<ArchiveEntry>& entries, const ArchiveFaults& faults = {});

void write_file(const std::filesystem::path& path, const std::string& bytes);
std::string read_file(const std::filesystem::path& path);

}  // namespace cosmic::checkpoint
