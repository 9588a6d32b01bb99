#include "target/device.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace cosmic::target {

std::string to_string(const DeviceIdentity& device) {
  return "device " + std::to_string(device.number) + " (" + device.name + ")";
}

void MemoryNeed::add(std::string_view what, std::int64_t bytes) {
  if (bytes == 0) {
    return;
  }
  const auto part = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const Part& known) { return known.what == what; });
  if (part == parts_.end()) {
    parts_.push_back({std::string(what), bytes});
  } else {
    part->bytes += bytes;
  }
}

std::int64_t MemoryNeed::bytes() const {
  return std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0},
                         [](std::int64_t sum, const Part& part) { return sum + part.bytes; });
}

std::string memory_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  char text[32];
  if (number < 1e6) {
    std::snprintf(text, sizeof text, "%.1f kB", number / 1e3);
  } else if (number < 1e9) {
    std::snprintf(text, sizeof text, "%.1f MB", number / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.2f GB", number / 1e9);
  }
  return text;
}

std::string to_string(const MemoryNeed& need) {
  std::vector<MemoryNeed::Part> parts = need.parts();
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string text;
  for (const MemoryNeed::Part& part : parts) {
    text += (text.empty() ? "" : ", ") + part.what + " " + memory_text(part.bytes);
  }
  return text;
}

}  // namespace cosmic::target
