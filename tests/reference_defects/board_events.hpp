// What a TensorBoard file holds, record by record: enough to see which curves and pictures it has
// at which step. tests/output/read_events.py decodes all of it.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scratch_folder.hpp"

namespace cosmic {

struct BoardEvent {
  std::int64_t step = 0;
  std::string bytes;  ///< of the whole record

  bool has(const std::string& tag) const { return bytes.find(tag) != std::string::npos; }
  /// A point of a curve: in a Summary.Value the tag is followed by field 2, four bytes of a float.
  std::optional<float> value(const std::string& tag) const {
    const std::size_t at = bytes.find(tag + '\x15');
    if (at == std::string::npos || at + tag.size() + 1 + sizeof(float) > bytes.size()) {
      return std::nullopt;
    }
    float number = 0;
    std::memcpy(&number, bytes.data() + at + tag.size() + 1, sizeof(number));
    return number;
  }
};

/// Of the only event file of a folder, in the order of the file.
inline std::vector<BoardEvent> board_events(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  if (files.size() != 1) {
    throw std::runtime_error(folder.string() + " holds " + std::to_string(files.size()) +
                             " files, not one event file");
  }
  const std::string text = content_of(files.front());
  constexpr std::size_t kLength = 8;
  constexpr std::size_t kChecksum = 4;
  std::vector<BoardEvent> events;
  for (std::size_t at = 0; at + kLength + kChecksum < text.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof(size));
    BoardEvent event{0, text.substr(at + kLength + kChecksum, size)};
    constexpr std::size_t kAfterWallTime = 9;  // a key and a double
    constexpr char kStep = 0x10;
    if (event.bytes.size() > kAfterWallTime && event.bytes[kAfterWallTime] == kStep) {
      int shift = 0;
      for (std::size_t i = kAfterWallTime + 1; i < event.bytes.size(); ++i, shift += 7) {
        const auto byte = static_cast<unsigned char>(event.bytes[i]);
        event.step |= std::int64_t{byte & 0x7F} << shift;
        if (byte < 0x80) {
          break;
        }
      }
    }
    at += kLength + kChecksum + size + kChecksum;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace cosmic
