#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

namespace cosmic::cli {
namespace {

constexpr const char* kNowhere = "/dev/null";

void open_if_closed(int descriptor, int flags) {
  if (fcntl(descriptor, F_GETFD) < 0) {
    // The lowest free number is this one: those below are open by now.
    [[maybe_unused]] const int opened = open(kNowhere, flags);
  }
}

void send_nowhere(std::FILE* stream) {
  const int nowhere = open(kNowhere, O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, fileno(stream));
    close(nowhere);
  }
  __fpurge(stream);  // what could not be written is not tried again
  clearerr(stream);
}

}  // namespace

void prepare_standard_streams() {
  open_if_closed(STDIN_FILENO, O_WRONLY);
  open_if_closed(STDOUT_FILENO, O_RDONLY);  // so that writing there is an error, as it would be
  open_if_closed(STDERR_FILENO, O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

std::optional<std::string> show(std::FILE* stream, std::string_view text) {
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), stream);
  if (std::fflush(stream) == 0 && std::ferror(stream) == 0) {
    return std::nullopt;
  }
  const int reason = errno == 0 ? EIO : errno;
  send_nowhere(stream);
  return std::strerror(reason);
}

Printed finish_printing() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) {
    return {};
  }
  if (errno == 0) {
    // What failed earlier has left no reason behind; one more try has the same one.
    [[maybe_unused]] const ssize_t again = ::write(STDOUT_FILENO, "\n", 1);
  }
  const int reason = errno == 0 ? EIO : errno;
  return {false, reason == EPIPE, std::strerror(reason)};
}

}  // namespace cosmic::cli
