#include "cli/stop_signal.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace cosmic::cli {
namespace {

volatile std::sig_atomic_t first_signal = 0;
// When the first SIGINT or SIGTERM came, in nanoseconds of the monotonic clock; 0 before that.
std::atomic<std::int64_t> first_time = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);  // a handler may use it
// What became of each signal before we listened, in the order of kStopSignals.
std::array<struct sigaction, kStopSignals.size()> actions_before{};

void put_back(int signal) {
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    if (kStopSignals[i].number == signal) {
      sigaction(signal, &actions_before[i], nullptr);
    }
  }
}

extern "C" void request_stop(int signal, siginfo_t* info, void*) {
  if (signal == SIGXFSZ && (info->si_code == SI_KERNEL || info->si_pid == getpid())) {
    return;  // a write of ours went beyond a limit
  }
  if (first_signal == 0) {
    first_signal = signal;
  }
  if (signal != SIGINT && signal != SIGTERM) {
    return;
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  timespec clock{};
  clock_gettime(CLOCK_MONOTONIC, &clock);
  const std::int64_t now = clock.tv_sec * kSecond + clock.tv_nsec;
  if (first_time == 0) {
    first_time = now;
  } else if (now - first_time > kSecond) {
    put_back(signal);  // somebody insists
    raise(signal);
  }
}

}  // namespace

StopSignal::StopSignal() {
  first_signal = 0;
  first_time = 0;
  struct sigaction action {};
  action.sa_sigaction = request_stop;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_SIGINFO);
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    const int number = kStopSignals[i].number;
    sigaction(number, nullptr, &actions_before[i]);
    // The program itself ignores SIGXFSZ (standard_streams.hpp); nobody else has a reason to.
    if (actions_before[i].sa_handler != SIG_IGN || number == SIGXFSZ) {
      sigaction(number, &action, nullptr);
    }
  }
}

StopSignal::~StopSignal() {
  if (to_the_end_) {
    return;
  }
  for (const KnownSignal& signal : kStopSignals) {
    put_back(signal.number);
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
