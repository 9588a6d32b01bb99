// NVML without a driver: a machine with two GPUs of which the second has no sensors.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "monitor/nvml.hpp"

namespace cosmic::monitor {

/// What the functions below answer. They have no object, so their answers are here.
struct FakeNvmlMachine {
  int starts = 0;
  int stops = 0;
  int answer_to_start = 0;
  int unreachable = -1;                ///< the index of a device without a handle
  unsigned own_process = 0;            ///< also computes on the first device
  std::set<std::string> missing = {};  ///< functions that an older library does not have
};

inline FakeNvmlMachine& fake_nvml_machine() {
  static FakeNvmlMachine machine;
  return machine;
}

namespace fake_nvml {

inline constexpr int kNotSupported = 3;
inline constexpr int kInsufficientSize = 7;

inline std::size_t index_of(void* device) {
  return reinterpret_cast<std::size_t>(device) - 1;
}
inline int init() {
  ++fake_nvml_machine().starts;
  return fake_nvml_machine().answer_to_start;
}
inline int shutdown() {
  ++fake_nvml_machine().stops;
  return 0;
}
inline const char* error_string(int) {
  return "Driver Not Loaded";
}
inline int count(unsigned* devices) {
  *devices = 2;
  return 0;
}
inline int handle(unsigned index, void** device) {
  if (static_cast<int>(index) == fake_nvml_machine().unreachable) {
    return kNotSupported;
  }
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(index) + 1);
  return 0;
}
inline int name(void* device, char* text, unsigned bytes) {
  std::strncpy(text, index_of(device) == 0 ? "NVIDIA H200" : "NVIDIA A100", bytes);
  return 0;
}
/// As the real one: the id is behind 16 characters and five numbers.
inline int pci_info(void* device, void* info) {
  std::strcpy(static_cast<char*>(info) + 16 + 5 * sizeof(unsigned),
              index_of(device) == 0 ? "00000000:18:00.0" : "00000000:3A:00.0");
  return 0;
}
inline int clock(void* device, unsigned which, unsigned* megahertz) {
  *megahertz = which == 1 ? 1980 : 7;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
inline int temperature(void* device, unsigned which, unsigned* celsius) {
  *celsius = which == 0 ? 41 : 7;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
inline int power(void* device, unsigned* milliwatts) {
  *milliwatts = 312'400;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
inline int power_limit(void* device, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
inline int memory(void* device, void* info) {
  const unsigned long long total_free_used[]{150'754'820'096, 144'854'820'096, 5'900'000'000};
  std::memcpy(info, total_free_used, sizeof total_free_used);
  return index_of(device) == 0 ? 0 : kNotSupported;
}
inline int utilization(void* device, void* rates) {
  const unsigned chip_memory[]{97, 60};
  std::memcpy(rates, chip_memory, sizeof chip_memory);
  return index_of(device) == 0 ? 0 : kNotSupported;
}
struct Process {
  unsigned number;
  unsigned long long bytes;
  unsigned instances[2];
};
inline int processes(void* device, unsigned* room, void* list) {
  const Process all[]{{fake_nvml_machine().own_process, 5'000'000'000, {}},
                      {4711, 41'000'000'000, {}},
                      {4712, ~0ULL, {}}};
  constexpr unsigned kProcesses = 3;
  if (index_of(device) != 0) {
    *room = 0;
    return 0;
  }
  if (*room < kProcesses) {
    *room = kProcesses;
    return kInsufficientSize;
  }
  *room = kProcesses;
  std::memcpy(list, all, sizeof all);
  return 0;
}
inline int process_name(unsigned process, char* text, unsigned bytes) {
  std::strncpy(text, "python3", bytes);
  return process == 4711 ? 0 : kNotSupported;
}

class Functions final : public NvmlFunctions {
 public:
  void* find(const char* wanted) const override {
    if (fake_nvml_machine().missing.contains(wanted)) {
      return nullptr;
    }
    const std::pair<const char*, void*> all[]{
        {"nvmlInit_v2", reinterpret_cast<void*>(init)},
        {"nvmlShutdown", reinterpret_cast<void*>(shutdown)},
        {"nvmlErrorString", reinterpret_cast<void*>(error_string)},
        {"nvmlDeviceGetCount_v2", reinterpret_cast<void*>(count)},
        {"nvmlDeviceGetHandleByIndex_v2", reinterpret_cast<void*>(handle)},
        {"nvmlDeviceGetName", reinterpret_cast<void*>(name)},
        {"nvmlDeviceGetPciInfo_v3", reinterpret_cast<void*>(pci_info)},
        {"nvmlDeviceGetClockInfo", reinterpret_cast<void*>(clock)},
        {"nvmlDeviceGetTemperature", reinterpret_cast<void*>(temperature)},
        {"nvmlDeviceGetPowerUsage", reinterpret_cast<void*>(power)},
        {"nvmlDeviceGetEnforcedPowerLimit", reinterpret_cast<void*>(power_limit)},
        {"nvmlDeviceGetMemoryInfo", reinterpret_cast<void*>(memory)},
        {"nvmlDeviceGetUtilizationRates", reinterpret_cast<void*>(utilization)},
        {"nvmlDeviceGetComputeRunningProcesses_v3", reinterpret_cast<void*>(processes)},
        {"nvmlSystemGetProcessName", reinterpret_cast<void*>(process_name)},
    };
    const auto found = std::find_if(std::begin(all), std::end(all), [&](const auto& one) {
      return std::string_view(one.first) == wanted;
    });
    return found == std::end(all) ? nullptr : found->second;
  }
};

}  // namespace fake_nvml

}  // namespace cosmic::monitor
