#include "run/this_host.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "core/process_memory.hpp"
#include "core/thread_budget.hpp"
#include "target/registry.hpp"

namespace cosmic::run {
namespace {

class Measured {
 public:
  explicit Measured(machine::Description description) : description_(std::move(description)) {}

  void set(std::string_view name, double value, const std::string& source) {
    for (machine::Figure& figure : description_.figures) {
      if (figure.name == name) {
        replace(figure, value, source);
      }
    }
    for (machine::Unknown& unknown : description_.unknowns) {
      if (unknown.figure.name == name) {
        replace(unknown.figure, value, source);
        unknown.low = value;
        unknown.high = value;
      }
    }
  }

  machine::Description take() { return std::move(description_); }

 private:
  static void replace(machine::Figure& figure, double value, const std::string& source) {
    figure.value = value;
    figure.status = machine::Status::published;
    figure.source = source;
  }

  machine::Description description_;
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

}  // namespace

machine::Description this_host(machine::Description like, const std::string& target) {
  const std::string fitted_on = like.name;
  const ThreadBudget budget = thread_budget();
  like.name = "this-host";
  like.about = fmt::format(
      "{}: {} threads ({}). Arithmetic, bandwidth and memory measured now; efficiencies as fitted "
      "on {}",
      host_name(), budget.threads, budget.reason, fitted_on);
  Measured host(std::move(like));
  host.set("memory", static_cast<double>(available_bytes() + resident_bytes()),
           "MemAvailable of /proc/meminfo, now");
  host.set("processors", budget.threads, budget.reason);
  if (const auto peak = target::make_target(target)->peak(budget.threads)) {
    const std::string how = fmt::format("measured now, {} threads", budget.threads);
    for (const char* const arithmetic : {"peak_float", "peak_tf32", "peak_half"}) {
      host.set(arithmetic, peak->flops_per_second, how);
    }
    host.set("memory_bandwidth", peak->bytes_per_second, how);
    host.set("host_bandwidth", peak->bytes_per_second, how);
  }
  return host.take();
}

}  // namespace cosmic::run
