#include "target/cpu/host_bank.hpp"

#include <cstring>

#include "core/error.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

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

}  // namespace cosmic::target::cpu
