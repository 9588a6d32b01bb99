// Memory of a device, and pinned memory of the host, each given back with its owner.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "target/cuda/driver.hpp"

namespace cosmic::target::cuda {

/// Of every buffer, so that the threads of a warp read whole lines.
inline constexpr std::int64_t kAlignment = 256;

constexpr std::int64_t round_up(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Zeros at first. Throws TargetError that says what they were for if there is not enough.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::shared_ptr<Device> device, std::int64_t bytes, const std::string& what);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  std::byte* data() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Device> device_;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

class PinnedMemory {
 public:
  PinnedMemory(std::shared_ptr<Device> device, std::int64_t bytes, const std::string& what);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  std::byte* data() const { return memory_; }

 private:
  std::shared_ptr<Device> device_;
  std::byte* memory_ = nullptr;
};

}  // namespace cosmic::target::cuda
