#include "core/process_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/error.hpp"

namespace cosmic {

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
  std::ifstream file("/proc/meminfo");
  constexpr std::int64_t kUnit = 1024;  // of its numbers
  std::string name;
  std::int64_t number = 0;
  for (std::string rest; file >> name >> number; std::getline(file, rest)) {
    if (name == "MemAvailable:") {
      return number * kUnit;
    }
  }
  throw TargetError(
      "/proc/meminfo has no line MemAvailable (the memory of this host is unknown); is /proc "
      "mounted?");
}

}  // namespace cosmic
