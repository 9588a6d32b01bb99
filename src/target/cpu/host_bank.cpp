#include "target/cpu/host_bank.hpp"

#include <cstring>

#include "core/error.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {
namespace {

/// Of whole states, one after the other.
class HostSnapshot final : public StateSnapshot {
 public:
  struct Part {
    std::int64_t offset;  ///< in the bank
    std::int64_t bytes;
  };

  explicit HostSnapshot(std::vector<Part> parts) : parts_(std::move(parts)) {
    std::int64_t bytes = 0;
    for (const Part& part : parts_) {
      bytes += round_up(part.bytes, kAlignment);
    }
    memory_ = AlignedBuffer(bytes / static_cast<std::int64_t>(sizeof(float)));
  }

  void take(const std::byte* bank) {
    for_each([&](const Part& part, std::byte* copy) {
      std::memcpy(copy, bank + part.offset, static_cast<std::size_t>(part.bytes));
    });
  }
  void restore(std::byte* bank) const {
    for_each([&](const Part& part, const std::byte* copy) {
      std::memcpy(bank + part.offset, copy, static_cast<std::size_t>(part.bytes));
    });
  }

 private:
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::byte* copy = memory_.raw();
    for (const Part& part : parts_) {
      visit(part, copy);
      copy += round_up(part.bytes, kAlignment);
    }
  }

  std::vector<Part> parts_;
  AlignedBuffer memory_;
};

}  // namespace

HostBank::HostBank(const std::vector<std::pair<std::string, graph::TensorType>>& states) {
  std::int64_t bytes = 0;
  for (const auto& [name, type] : states) {
    bytes += round_up(type.bytes(), kAlignment);
  }
  memory_ = AlignedBuffer(bytes / static_cast<std::int64_t>(sizeof(float)));
  std::byte* next = memory_.raw();
  for (const auto& [name, type] : states) {
    entries_[name] = {next, type.bytes()};
    next += round_up(type.bytes(), kAlignment);
  }
}

const HostBank::Entry& HostBank::find(std::string_view name) const {
  const auto found = entries_.find(name);
  COSMIC_REQUIRE(InternalError, found != entries_.end(), "no state is named '" << name << "'");
  return found->second;
}

void HostBank::read(std::string_view name, std::span<std::byte> out) const {
  const Entry& entry = find(name);
  COSMIC_ASSERT(static_cast<std::int64_t>(out.size()) == entry.bytes);
  std::memcpy(out.data(), entry.memory, out.size());
}

void HostBank::write(std::string_view name, std::span<const std::byte> in) {
  const Entry& entry = find(name);
  COSMIC_ASSERT(static_cast<std::int64_t>(in.size()) == entry.bytes);
  std::memcpy(entry.memory, in.data(), in.size());
  changed();
}

std::unique_ptr<StateSnapshot> HostBank::snapshot(
    const std::optional<std::vector<std::string>>& names) const {
  std::vector<HostSnapshot::Part> parts;
  const auto add = [&](const Entry& entry) {
    parts.push_back({entry.memory - memory_.raw(), entry.bytes});
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
  auto snapshot = std::make_unique<HostSnapshot>(std::move(parts));
  snapshot->take(memory_.raw());
  return snapshot;
}

void HostBank::take_again(StateSnapshot& snapshot) const {
  dynamic_cast<HostSnapshot&>(snapshot).take(memory_.raw());
}

void HostBank::restore(const StateSnapshot& snapshot) {
  dynamic_cast<const HostSnapshot&>(snapshot).restore(memory_.raw());
  changed();
}

}  // namespace cosmic::target::cpu
