#include "target/cuda/device_bank.hpp"

#include "target/cuda/failures.hpp"

namespace cosmic::target::cuda {
namespace {

/// Of whole states, one after the other.
struct DeviceSnapshot final : StateSnapshot {
  struct Part {
    std::int64_t in_bank;
    std::int64_t here;
    std::int64_t bytes;
  };

  std::vector<Part> parts;
  DeviceMemory memory;
};

}  // namespace

DeviceBank::DeviceBank(std::shared_ptr<Device> device,
                       const std::vector<std::pair<std::string, graph::TensorType>>& states)
    : device_(std::move(device)), queue_(device_->make_queue(0)) {
  std::int64_t bytes = 0;
  for (const auto& [name, type] : states) {
    entries_[name] = {bytes, type.bytes()};
    bytes += round_up(type.bytes());
  }
  memory_ = DeviceMemory(device_, bytes, "the states of the model");
}

std::int64_t DeviceBank::bytes_of(
    const std::vector<std::pair<std::string, graph::TensorType>>& states) {
  std::int64_t bytes = 0;
  for (const auto& [name, type] : states) {
    bytes += round_up(type.bytes());
  }
  return bytes;
}

const DeviceBank::Entry& DeviceBank::find(std::string_view name) const {
  const auto found = entries_.find(name);
  COSMIC_REQUIRE(InternalError, found != entries_.end(), "no state is named '" << name << "'");
  return found->second;
}

void DeviceBank::wait(const char* doing) const {
  require(queue_->wait(), device_->facts(), doing);
}

void DeviceBank::read(std::string_view name, std::span<std::byte> out) const {
  const Entry& entry = find(name);
  COSMIC_ASSERT(static_cast<std::int64_t>(out.size()) == entry.bytes);
  queue_->download(out.data(), memory_.data() + entry.offset, entry.bytes);
  wait("reading a state");
}

void DeviceBank::write(std::string_view name, std::span<const std::byte> in) {
  const Entry& entry = find(name);
  COSMIC_ASSERT(static_cast<std::int64_t>(in.size()) == entry.bytes);
  queue_->upload(memory_.data() + entry.offset, in.data(), entry.bytes);
  wait("writing a state");
  changed();
}

std::unique_ptr<StateSnapshot> DeviceBank::snapshot(
    const std::optional<std::vector<std::string>>& names) const {
  auto snapshot = std::make_unique<DeviceSnapshot>();
  std::int64_t bytes = 0;
  const auto add = [&](const Entry& entry) {
    snapshot->parts.push_back({entry.offset, bytes, entry.bytes});
    bytes += round_up(entry.bytes);
  };
  if (names) {
    for (const std::string& name : *names) {
      add(find(name));
    }
  } else {
    for (const auto& [name, entry] : entries_) {
      add(entry);
    }
  }
  snapshot->memory = DeviceMemory(device_, bytes, "a copy of the model's states");
  take_again(*snapshot);
  return snapshot;
}

void DeviceBank::take_again(StateSnapshot& snapshot) const {
  auto& own = dynamic_cast<DeviceSnapshot&>(snapshot);
  for (const DeviceSnapshot::Part& part : own.parts) {
    queue_->copy(own.memory.data() + part.here, memory_.data() + part.in_bank, part.bytes);
  }
  wait("copying states");
}

void DeviceBank::restore(const StateSnapshot& snapshot) {
  const auto& own = dynamic_cast<const DeviceSnapshot&>(snapshot);
  for (const DeviceSnapshot::Part& part : own.parts) {
    queue_->copy(memory_.data() + part.in_bank, own.memory.data() + part.here, part.bytes);
  }
  wait("bringing states back");
  changed();
}

}  // namespace cosmic::target::cuda
