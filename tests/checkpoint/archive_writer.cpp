#include "checkpoint/archive_writer.hpp"

#include <libdeflate.h>

#include <fstream>

#include "checkpoint/pickle_writer.hpp"

namespace cosmic::checkpoint {
namespace {

constexpr std::uint16_t kFlags = 0x0808;

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

std::string size16(const std::string& text) {
  return little(static_cast<std::uint16_t>(text.size()));
}

std::string local_header(const ArchiveEntry& entry) {
  return "PK\x03\x04" + zeros(2) + little(kFlags) + zeros(18) + size16(entry.name) + zeros(2) +
         entry.name;
}

std::string descriptor(const ArchiveEntry& entry, std::uint32_t checksum) {
  const auto bytes = static_cast<std::uint32_t>(entry.content.size());
  return "PK\x07\x08" + little(checksum) + little(bytes) + little(bytes);
}

std::string record_bytes(const ArchiveRecord& record) {
  return "PK\x01\x02" + zeros(4) + little(record.flags) + little(record.method) + zeros(4) +
         little(record.checksum) + little(record.stored_bytes) + little(record.bytes) +
         size16(record.name) + size16(record.extra) + zeros(10) + little(record.header) +
         record.name + record.extra;
}

std::string end_bytes(const ArchiveEnd& narrow, const ArchiveEnd& wide, std::uint64_t wide_begin) {
  const auto count = little(static_cast<std::uint16_t>(narrow.entries));
  return "PK\x06\x06" + little(std::uint64_t{44}) + zeros(12) + little(wide.entries) +
         little(wide.entries) + little(wide.bytes) + little(wide.begin) + "PK\x06\x07" + zeros(4) +
         little(wide_begin) + little(1U) + "PK\x05\x06" + zeros(4) + count + count +
         little(static_cast<std::uint32_t>(narrow.bytes)) +
         little(static_cast<std::uint32_t>(narrow.begin)) + zeros(2);
}

}  // namespace

std::string archive_of(const std::vector<ArchiveEntry>& entries, const ArchiveFaults& faults) {
  std::string archive;
  std::string directory;
  for (const ArchiveEntry& entry : entries) {
    ArchiveRecord record;
    record.name = entry.name;
    record.checksum = libdeflate_crc32(0, entry.content.data(), entry.content.size());
    record.bytes = static_cast<std::uint32_t>(entry.content.size());
    record.stored_bytes = record.bytes;
    record.header = static_cast<std::uint32_t>(archive.size());
    archive += local_header(entry) + entry.content + descriptor(entry, record.checksum);
    faults.record(record);
    directory += record_bytes(record);
  }
  ArchiveEnd narrow{entries.size(), directory.size(), archive.size()};
  ArchiveEnd wide = narrow;
  faults.narrow_end(narrow);
  faults.wide_end(wide);
  archive += directory;
  return archive + end_bytes(narrow, wide, archive.size());
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cosmic::checkpoint
