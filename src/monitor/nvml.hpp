// What NVIDIA's management library (NVML) says about the GPUs of this machine: clock, temperature,
// power, memory, and who uses it. The library comes with the driver and is looked for at run time,
// so that the program starts where there is none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cosmic::monitor {

/// Nothing stands for what a device does not tell: not every one has every sensor.
struct DeviceStatus {
  int index = 0;  ///< as NVML counts; CUDA may count otherwise
  std::string name;
  std::string bus_id;  ///< "00000000:18:00.0"
  std::optional<double> clock_hz;
  std::optional<double> celsius;
  std::optional<double> watts;
  std::optional<double> most_watts;
  std::optional<std::int64_t> used_bytes;
  std::optional<std::int64_t> total_bytes;
  std::optional<double> utilisation;  ///< share of the last moment in which a kernel ran, 0 to 1
};

/// A process that computes on a device.
struct DeviceProcess {
  pid_t number = 0;
  std::string name;                   ///< of its program, as NVML has it; empty if it does not
  std::optional<std::int64_t> bytes;  ///< of the device's memory
};

/// Where NVML's functions come from: the library itself, or a test.
class NvmlFunctions {
 public:
  virtual ~NvmlFunctions() = default;
  /// Null if there is none of that name.
  virtual void* find(const char* name) const = 0;
};

/// Asks NVML while it lives. Everything it is asked is answered without an exception: a device that
/// is lost must not take who looks at it down.
class Nvml {
 public:
  /// The library of this machine's driver.
  Nvml();
  /// `functions` is null where there is no library; `why_not` says so then.
  Nvml(std::unique_ptr<NvmlFunctions> functions, const std::string& why_not);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool here() const { return functions_ != nullptr; }
  /// Why it is not; empty if it is.
  const std::string& why_not() const { return why_not_; }

  std::vector<DeviceStatus> devices() const;
  /// Those on the device with this bus id that are not this process. None if that is not known.
  std::vector<DeviceProcess> other_processes(const std::string& bus_id) const;

 private:
  void start();

  std::unique_ptr<NvmlFunctions> functions_;
  std::string why_not_;
};

}  // namespace cosmic::monitor
