#include "cli/stop_signal.hpp"

#include <unistd.h>

#include <csignal>

namespace cosmic::cli {
namespace {

volatile std::sig_atomic_t first_signal = 0;

extern "C" void request_stop(int signal, siginfo_t* info, void*) {
  if (signal == SIGXFSZ && (info->si_code == SI_KERNEL || info->si_pid == getpid())) {
    return;  // a write of ours went beyond a limit
  }
  if (first_signal == 0) {
    first_signal = signal;
  }
  if (signal == SIGINT || signal == SIGTERM) {
    std::signal(signal, SIG_DFL);  // the second one is not for us
  }
}

}  // namespace

StopSignal::StopSignal() {
  first_signal = 0;
  struct sigaction action {};
  action.sa_sigaction = request_stop;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_SIGINFO);
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    const int number = kStopSignals[i].number;
    sigaction(number, nullptr, &before_[i]);
    // The program itself ignores SIGXFSZ (standard_streams.hpp); nobody else has a reason to.
    if (before_[i].sa_handler != SIG_IGN || number == SIGXFSZ) {
      sigaction(number, &action, nullptr);
    }
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    sigaction(kStopSignals[i].number, &before_[i], nullptr);
  }
}

bool StopSignal::requested() const {
  return first_signal != 0;
}

std::string_view StopSignal::name() const {
  for (const KnownSignal& signal : kStopSignals) {
    if (signal.number == first_signal) {
      return signal.name;
    }
  }
  return "";
}

}  // namespace cosmic::cli
