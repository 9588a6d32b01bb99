// State in the memory of a device, plain layout, one buffer per tensor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "target/cuda/device_memory.hpp"
#include "target/target.hpp"

namespace cosmic::target::cuda {

class DeviceBank final : public StateBank {
 public:
  DeviceBank(std::shared_ptr<Device> device,
             const std::vector<std::pair<std::string, graph::TensorType>>& states);

  /// What a bank of these takes of the device.
  static std::int64_t bytes_of(
      const std::vector<std::pair<std::string, graph::TensorType>>& states);

  void read(std::string_view name, std::span<std::byte> out) const override;
  void write(std::string_view name, std::span<const std::byte> in) override;

  std::unique_ptr<StateSnapshot> snapshot(
      const std::optional<std::vector<std::string>>& names) const override;
  void take_again(StateSnapshot& snapshot) const override;
  void restore(const StateSnapshot& snapshot) override;

  /// Another number whenever a state has another value.
  std::int64_t version() const { return version_; }
  void changed() { ++version_; }

  std::byte* address(std::string_view name) const { return memory_.data() + find(name).offset; }

 private:
  struct Entry {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };

  const Entry& find(std::string_view name) const;
  void wait(const char* doing) const;

  std::shared_ptr<Device> device_;  // shared with all that lives on it
  std::map<std::string, Entry, std::less<>> entries_;
  DeviceMemory memory_;
  std::int64_t version_ = 0;
  std::unique_ptr<Queue> queue_;
};

}  // namespace cosmic::target::cuda
