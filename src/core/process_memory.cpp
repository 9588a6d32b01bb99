#include "core/process_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>

#include "core/control_group.hpp"

namespace cosmic {
namespace {

std::string gigabytes(std::int64_t bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 1e-9 * static_cast<double>(bytes) << " GB";
  return text.str();
}

/// A line such as "MemAvailable:   22836180 kB", in bytes.
std::optional<std::int64_t> of_meminfo(const std::string& line) {
  std::ifstream file("/proc/meminfo");
  constexpr std::int64_t kUnit = 1024;
  std::string name;
  std::int64_t number = 0;
  for (std::string rest; file >> name >> number; std::getline(file, rest)) {
    if (name == line) {
      return number * kUnit;
    }
  }
  return std::nullopt;
}

}  // namespace

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all_pages = 0;
  std::int64_t resident_pages = 0;
  COSMIC_REQUIRE(TargetError, file >> all_pages >> resident_pages,
                 "cannot read /proc/self/statm (the memory of this process is unknown); is /proc "
                 "mounted?");
  return resident_pages * sysconf(_SC_PAGESIZE);
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::int64_t kUnit = 1024;  // of ru_maxrss, on Linux
  return usage.ru_maxrss * kUnit;
}

std::int64_t available_bytes() {
  const std::optional<std::int64_t> available = of_meminfo("MemAvailable:");
  COSMIC_REQUIRE(TargetError, available,
                 "/proc/meminfo has no line MemAvailable (the memory of this host is unknown); is "
                 "/proc mounted?");
  return std::min(*available, control_group_memory_left().value_or(*available));
}

void require_host_memory(std::int64_t bytes, const std::string& what) {
  if (!of_meminfo("MemAvailable:")) {
    return;
  }
  const std::int64_t available = available_bytes();
  if (bytes > available + of_meminfo("SwapFree:").value_or(0)) {
    throw HostMemoryError(what + " would take " + gigabytes(bytes) +
                          " of memory, and this host has " + gigabytes(available) +
                          " free (nothing of it was allocated); use a smaller run.minibatch_size "
                          "or a larger data.downsample, or end other programs");
  }
}

}  // namespace cosmic
