// A device that a target computes on beside the host, and its memory: which one it is, what is
// free, and what programs would take of it. All of it is known before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::target {

struct DeviceIdentity {
  int number = 0;      ///< as run.device counts
  std::string name;    ///< "NVIDIA H200"
  std::string bus_id;  ///< "00000000:18:00.0", by which other tools know it; empty if unknown
};

/// "device 0 (NVIDIA H200)".
std::string to_string(const DeviceIdentity& device);

/// How much memory a device has, and how much of it nobody uses right now.
struct DeviceRoom {
  DeviceIdentity device;
  std::int64_t free = 0;
  std::int64_t total = 0;
};

/// What something takes of a device's memory, by what it is for.
class MemoryNeed {
 public:
  struct Part {
    std::string what;
    std::int64_t bytes = 0;

    bool operator==(const Part&) const = default;
  };

  /// To a part of that name, or a new one. Nothing is not listed.
  void add(std::string_view what, std::int64_t bytes);

  const std::vector<Part>& parts() const { return parts_; }
  std::int64_t bytes() const;

 private:
  std::vector<Part> parts_;
};

/// "5.90 GB", "12.3 MB".
std::string memory_text(std::int64_t bytes);
/// "values 5.20 GB, inputs 63.1 MB", the largest first.
std::string to_string(const MemoryNeed& need);

}  // namespace cosmic::target
