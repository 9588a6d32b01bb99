// Ctrl-C, a closed terminal and the batch system's signals as a flag that long work can check, so
// that it ends cleanly.
#pragma once

#include <array>
#include <csignal>
#include <string_view>

namespace cosmic::cli {

struct KnownSignal {
  int number;
  std::string_view name;
};

/// Those that it listens to.
inline constexpr std::array kStopSignals{
    KnownSignal{SIGINT, "SIGINT"},   KnownSignal{SIGTERM, "SIGTERM"},
    KnownSignal{SIGHUP, "SIGHUP"},   KnownSignal{SIGUSR1, "SIGUSR1"},
    KnownSignal{SIGUSR2, "SIGUSR2"}, KnownSignal{SIGXCPU, "SIGXCPU"},
    KnownSignal{SIGXFSZ, "SIGXFSZ"}};

/// Listens while it lives; one at a time. A second SIGINT or SIGTERM ends the program at once,
/// unless it comes within a second: `timeout`, `mpirun` and batch systems send the same one to a
/// process and to its group. The others come in numbers (SIGXCPU every second), so a second one
/// changes nothing. A signal that was ignored when this began stays ignored: that is what `nohup`
/// asks for. SIGXFSZ counts if somebody sent it; the system's own means that a write has failed,
/// which who writes knows.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Goes on listening when this is gone, for a program that ends as it was asked to: a signal that
  /// is late, as it is on another host, must not become the status of one that has saved
  /// everything.
  void listen_to_the_end() { to_the_end_ = true; }

  bool requested() const;
  /// "SIGTERM", the first that came; empty if none did.
  std::string_view name() const;

 private:
  bool to_the_end_ = false;
};

}  // namespace cosmic::cli
