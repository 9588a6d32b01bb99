#include "core/process_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

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

}  // namespace cosmic
