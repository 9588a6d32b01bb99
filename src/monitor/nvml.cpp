#include "monitor/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace cosmic::monitor {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";

// What of nvml.h is used here, as that file declares it for the functions with these suffixes. The
// header comes with CUDA; the library with the driver, and programs run where only that is.
using Device = struct DeviceHandle*;
using Result = int;
constexpr Result kMissing = -1;
constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
constexpr unsigned kClockOfMultiprocessors = 1;
constexpr unsigned kTemperatureOfChip = 0;
constexpr unsigned kTextBytes = 96;
constexpr unsigned long long kUnknownBytes = ~0ULL;

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {
  unsigned chip;
  unsigned memory;
};

struct ProcessInfo {
  unsigned number;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

class LoadedLibrary final : public NvmlFunctions {
 public:
  explicit LoadedLibrary(void* handle) : handle_(handle) {}
  ~LoadedLibrary() override { dlclose(handle_); }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  void* find(const char* name) const override { return dlsym(handle_, name); }

 private:
  void* handle_;
};

/// What a function answers that takes such parameters; a status that is none of its own if the
/// library does not have it.
template <class... Parameters, class... Arguments>
Result call(const NvmlFunctions& functions, const char* name, Result (*)(Parameters...),
            Arguments... arguments) {
  void* const found = functions.find(name);
  if (found == nullptr) {
    return kMissing;
  }
  return reinterpret_cast<Result (*)(Parameters...)>(found)(arguments...);
}

template <class... Parameters>
constexpr Result (*takes())(Parameters...) {
  return nullptr;
}

/// A number that a device may not tell.
std::optional<unsigned> number(const NvmlFunctions& functions, const char* name, Device device) {
  unsigned value = 0;
  return call(functions, name, takes<Device, unsigned*>(), device, &value) == kSuccess
             ? std::optional(value)
             : std::nullopt;
}

/// The same of a function that is asked which of several.
std::optional<unsigned> number(const NvmlFunctions& functions, const char* name, Device device,
                               unsigned which) {
  unsigned value = 0;
  return call(functions, name, takes<Device, unsigned, unsigned*>(), device, which, &value) ==
                 kSuccess
             ? std::optional(value)
             : std::nullopt;
}

std::optional<double> scaled(const std::optional<unsigned>& value, double factor) {
  return value ? std::optional(factor * *value) : std::nullopt;
}

std::string text_in(const char* text, std::size_t most) {
  return {text, std::find(text, text + most, '\0')};
}

std::string bus_id_of(const NvmlFunctions& functions, Device device) {
  PciInfo info{};
  return call(functions, "nvmlDeviceGetPciInfo_v3", takes<Device, PciInfo*>(), device, &info) ==
                 kSuccess
             ? text_in(info.bus_id, sizeof info.bus_id)
             : "";
}

DeviceStatus status_of(const NvmlFunctions& functions, Device device, int index) {
  DeviceStatus status;
  status.index = index;
  if (device == nullptr) {
    status.name = "unreachable";
    return status;
  }
  std::array<char, kTextBytes> name{};
  if (call(functions, "nvmlDeviceGetName", takes<Device, char*, unsigned>(), device, name.data(),
           kTextBytes) == kSuccess) {
    status.name = text_in(name.data(), name.size());
  }
  status.bus_id = bus_id_of(functions, device);
  status.clock_hz =
      scaled(number(functions, "nvmlDeviceGetClockInfo", device, kClockOfMultiprocessors), 1e6);
  status.celsius =
      scaled(number(functions, "nvmlDeviceGetTemperature", device, kTemperatureOfChip), 1);
  status.watts = scaled(number(functions, "nvmlDeviceGetPowerUsage", device), 1e-3);
  status.most_watts = scaled(number(functions, "nvmlDeviceGetEnforcedPowerLimit", device), 1e-3);
  Memory memory{};
  if (call(functions, "nvmlDeviceGetMemoryInfo", takes<Device, Memory*>(), device, &memory) ==
      kSuccess) {
    status.used_bytes = static_cast<std::int64_t>(memory.used);
    status.total_bytes = static_cast<std::int64_t>(memory.total);
  }
  Utilization utilization{};
  if (call(functions, "nvmlDeviceGetUtilizationRates", takes<Device, Utilization*>(), device,
           &utilization) == kSuccess) {
    status.utilisation = 0.01 * utilization.chip;
  }
  return status;
}

std::vector<Device> handles(const NvmlFunctions& functions) {
  unsigned count = 0;
  std::vector<Device> devices;
  if (call(functions, "nvmlDeviceGetCount_v2", takes<unsigned*>(), &count) != kSuccess) {
    return devices;
  }
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    call(functions, "nvmlDeviceGetHandleByIndex_v2", takes<unsigned, Device*>(), i, &device);
    devices.push_back(device);  // null for one that is unreachable; the others keep their numbers
  }
  return devices;
}

std::vector<ProcessInfo> processes_on(const NvmlFunctions& functions, Device device) {
  constexpr const char* kName = "nvmlDeviceGetComputeRunningProcesses_v3";
  constexpr auto kTakes = takes<Device, unsigned*, ProcessInfo*>();
  constexpr unsigned kMore = 16;  // that may start between the two questions
  unsigned count = 0;
  const Result answer =
      call(functions, kName, kTakes, device, &count, static_cast<ProcessInfo*>(nullptr));
  if (answer != kInsufficientSize) {
    return {};  // none, or not told
  }
  count += kMore;
  std::vector<ProcessInfo> processes(count);
  if (call(functions, kName, kTakes, device, &count, processes.data()) != kSuccess) {
    return {};
  }
  processes.resize(std::min<std::size_t>(count, processes.size()));
  return processes;
}

std::unique_ptr<NvmlFunctions> load() {
  void* const handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : std::make_unique<LoadedLibrary>(handle);
}

}  // namespace

Nvml::Nvml()
    : Nvml(load(), std::string("there is no ") + kLibrary +
                       ", which comes with the NVIDIA driver, on this machine") {}

Nvml::Nvml(std::unique_ptr<NvmlFunctions> functions, const std::string& why_not)
    : functions_(std::move(functions)) {
  if (functions_ == nullptr) {
    why_not_ = why_not;
    return;
  }
  start();
}

void Nvml::start() {
  const Result started = call(*functions_, "nvmlInit_v2", takes<>());
  if (started == kSuccess) {
    return;
  }
  const char* text = nullptr;
  if (void* const error_text = functions_->find("nvmlErrorString")) {
    text = reinterpret_cast<const char* (*)(Result)>(error_text)(started);
  }
  why_not_ = std::string(kLibrary) +
             " does not start: " + (text == nullptr ? "status " + std::to_string(started) : text) +
             "; `nvidia-smi` may say more";
  functions_.reset();
}

Nvml::~Nvml() {
  if (functions_ != nullptr) {
    call(*functions_, "nvmlShutdown", takes<>());
  }
}

std::vector<DeviceStatus> Nvml::devices() const {
  std::vector<DeviceStatus> all;
  if (!here()) {
    return all;
  }
  int index = 0;
  for (const Device device : handles(*functions_)) {
    all.push_back(status_of(*functions_, device, index));
    ++index;
  }
  return all;
}

std::vector<DeviceProcess> Nvml::other_processes(const std::string& bus_id) const {
  std::vector<DeviceProcess> others;
  if (!here() || bus_id.empty()) {
    return others;
  }
  for (const Device device : handles(*functions_)) {
    if (device == nullptr || bus_id_of(*functions_, device) != bus_id) {
      continue;
    }
    for (const ProcessInfo& info : processes_on(*functions_, device)) {
      if (static_cast<pid_t>(info.number) == getpid()) {
        continue;
      }
      DeviceProcess process;
      process.number = static_cast<pid_t>(info.number);
      std::array<char, kTextBytes> name{};
      if (call(*functions_, "nvmlSystemGetProcessName", takes<unsigned, char*, unsigned>(),
               info.number, name.data(), kTextBytes) == kSuccess) {
        process.name = text_in(name.data(), name.size());
      }
      if (info.bytes != kUnknownBytes) {
        process.bytes = static_cast<std::int64_t>(info.bytes);
      }
      others.push_back(std::move(process));
    }
  }
  return others;
}

}  // namespace cosmic::monitor
