// State in host memory, plain layout, one buffer per tensor.
#pragma once

#include <map>
#include <string>

#include "target/cpu/aligned_buffer.hpp"
#include "target/target.hpp"

namespace cosmic::target::cpu {

class HostBank final : public StateBank {
 public:
  explicit HostBank(const std::vector<std::pair<std::string, graph::TensorType>>& states);

  void read(std::string_view name, std::span<std::byte> out) const override;
  void write(std::string_view name, std::span<const std::byte> in) override;

  std::unique_ptr<StateSnapshot> snapshot(
      const std::optional<std::vector<std::string>>& names) const override;
  void take_again(StateSnapshot& snapshot) const override;
  void restore(const StateSnapshot& snapshot) override;

  std::byte* address(std::string_view name) const { return find(name).memory; }
  /// Grows with every change, so that an executable knows when its prepared weights are stale.
  std::int64_t version() const { return version_; }
  void changed() { ++version_; }

 private:
  struct Entry {
    std::byte* memory = nullptr;
    std::int64_t bytes = 0;
  };

  const Entry& find(std::string_view name) const;

  std::map<std::string, Entry, std::less<>> entries_;
  AlignedBuffer memory_;
  std::int64_t version_ = 0;
};

}  // namespace cosmic::target::cpu
