// `cosmictagger monitor`: what this user's jobs do, live in a terminal or once.
#include <fmt/core.h>
#include <poll.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/monitor_view.hpp"
#include "cli/progress_bar.hpp"
#include "cli/stop_signal.hpp"

namespace cosmic::cli {
namespace {

struct MonitorOptions {
  bool once = false;
  bool json = false;
  double interval_seconds = 1;
};

MonitorView look(const monitor::Nvml& nvml) {
  return monitor_view(monitor::list_jobs(), nvml);
}

void print_once(const MonitorOptions& options) {
  const monitor::Nvml nvml;
  if (options.json) {
    fmt::print("{}\n", monitor_json(look(nvml)));
    return;
  }
  for (const std::string& line : monitor_lines(look(nvml))) {
    fmt::print("{}\n", line);
  }
}

/// A second screen of the terminal, without a cursor. What was on the first comes back.
class Screen {
 public:
  Screen() { fmt::print("\033[?1049h\033[?25l"); }
  ~Screen() {
    fmt::print("\033[?25h\033[?1049l");
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Over what is there, so that nothing flickers. What does not fit is cut off.
  void show(const std::vector<std::string>& lines) {
    const auto rows = static_cast<std::size_t>(terminal_height(stdout));
    const auto columns = static_cast<std::size_t>(terminal_width(stdout));
    fmt::print("\033[H");
    for (std::size_t row = 0; row < std::min(lines.size(), rows); ++row) {
      fmt::print("{}{}\033[K", row == 0 ? "" : "\r\n", lines[row].substr(0, columns));
    }
    fmt::print("\033[J");
    std::fflush(stdout);
  }
};

void watch(const MonitorOptions& options) {
  const StopSignal stop;
  const monitor::Nvml nvml;
  Screen screen;
  while (!stop.requested()) {
    std::vector<std::string> lines = monitor_lines(look(nvml));
    lines.front() += "   (Ctrl-C to quit)";
    screen.show(lines);
    // A signal ends the wait.
    poll(nullptr, 0, static_cast<int>(1000 * options.interval_seconds));
  }
}

}  // namespace

void add_monitor(Command& app) {
  auto options = std::make_shared<MonitorOptions>();  // the callback holds it too
  Command* command =
      app.add_subcommand("monitor",
                         "Show the jobs that run here (memory, step, rate, loss) and "
                         "the GPUs of this machine");
  command->add_flag("--once", options->once,
                    "Print one table and exit; the default if the output is not a terminal");
  command->add_flag("--json", options->json, "Print one JSON object and exit");
  command->add_option("--interval", options->interval_seconds, "Seconds between updates")
      ->between(0.1, 3600.0)
      ->capture_default_str();
  command->callback([options] {
    if (options->once || options->json || !is_terminal(stdout)) {
      print_once(*options);
    } else {
      watch(*options);
    }
  });
}

}  // namespace cosmic::cli
