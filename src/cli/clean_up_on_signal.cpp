#include "cli/clean_up_on_signal.hpp"

#include <csignal>

#include "core/pending_file.hpp"

namespace cosmic::cli {
namespace {

/// SA_RESETHAND has restored the default, which ends the program when the signal comes again: at
/// once when the handler returns, as it is blocked until then.
extern "C" void clean_up_and_end(int signal) {
  remove_pending_files();
  std::raise(signal);
}

}  // namespace

void clean_up_on_signals() {
  for (const int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) {
      continue;
    }
    action.sa_handler = clean_up_and_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace cosmic::cli
