#include "monitor/process.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace cosmic::monitor {
namespace {

/// What /proc/<number>/stat says; see proc(5).
struct Stat {
  char state = ' ';
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t start = 0;
  std::int64_t resident_pages = 0;

  bool ended() const { return state == 'Z' || state == 'X'; }
};

// Its fields after the name of the program, of which the first is number 3 in proc(5).
constexpr std::size_t kState = 3 - 3;
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kStart = 22 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

std::optional<Stat> stat_of(pid_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    return std::nullopt;
  }
  // The name of the program is in brackets, and may hold spaces and brackets itself.
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream rest(line.substr(bracket + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  if (fields.size() <= kResidentPages) {
    return std::nullopt;
  }
  return Stat{fields[kState][0], std::stoull(fields[kUserTicks]), std::stoull(fields[kSystemTicks]),
              std::stoull(fields[kStart]), std::stoll(fields[kResidentPages])};
}

std::string first_line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

ProcessId this_process() {
  const std::optional<Stat> stat = stat_of(getpid());
  COSMIC_REQUIRE(TargetError, stat.has_value(),
                 "cannot read /proc/" << getpid()
                                      << "/stat (it tells this process from others of its number); "
                                         "is /proc mounted?");
  return {getpid(), stat->start};
}

ProcessTable this_process_table() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  std::error_code unknown;  // then it is empty for every process here
  return {host.data(), first_line_of("/proc/sys/kernel/random/boot_id"),
          std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string()};
}

std::optional<ProcessUsage> usage_of(const ProcessId& process) {
  const std::optional<Stat> stat = stat_of(process.number);
  if (!stat || stat->ended() || stat->start != process.start) {
    return std::nullopt;
  }
  static const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ProcessUsage{static_cast<double>(stat->user_ticks + stat->system_ticks) / ticks_per_second,
                      stat->resident_pages * sysconf(_SC_PAGESIZE)};
}

double seconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace cosmic::monitor
