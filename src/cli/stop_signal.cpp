#include "cli/stop_signal.hpp"

#include <csignal>

namespace cosmic::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

extern "C" void request_stop(int) {
  stop_requested = 1;
}

void listen(int signal) {
  struct sigaction action {};
  action.sa_handler = request_stop;
  // The second one is not for us.
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  stop_requested = 0;
  listen(SIGINT);
  listen(SIGTERM);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopSignal::requested() const {
  return stop_requested != 0;
}

}  // namespace cosmic::cli
