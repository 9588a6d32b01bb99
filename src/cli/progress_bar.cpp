#include "cli/progress_bar.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/progress_pace.hpp"
#include "cli/standard_streams.hpp"

namespace cosmic::cli {
namespace {

constexpr int kBarColumns = 30;
constexpr const char* kClearLine = "\r\033[K";

std::string time_left(double seconds) {
  const auto whole = static_cast<long>(std::min(std::ceil(seconds), 359'999.0));  // 99:59:59
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar(double done, int columns) {
  const int filled = static_cast<int>(std::lround(done * columns));
  std::string text;
  for (int column = 0; column < columns; ++column) {
    text += column < filled ? "━" : "┈";
  }
  return text;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) == 1;
}

int terminal_width(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

int terminal_height(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
}

std::string progress_line(double done, double seconds, std::string_view text, int width) {
  done = std::clamp(done, 0.0, 1.0);
  const std::string left = done > 0 ? time_left(seconds * (1 - done) / done) + " left" : "";
  const std::string numbers = fmt::format("{:3.0f} % {:>9}  ", 100 * done, left);
  // The text goes before the bar does: a line that wraps cannot be redrawn.
  const int room = std::max(width - static_cast<int>(numbers.size()) - 1, 0);
  const int columns = std::clamp(room - static_cast<int>(text.size()) - 1, 0, kBarColumns);
  const std::string_view shown = text.substr(0, static_cast<std::size_t>(room - columns));
  return bar(done, columns) + (columns > 0 ? " " : "") + numbers + std::string(shown);
}

void ProgressBar::update(double done, std::string_view text) {
  const double now = watch_.seconds();
  if (now < std::max(next_draw_, patience_seconds_)) {
    return;
  }
  if (on_terminal_) {
    print(kClearLine + progress_line(done, now, text, terminal_width(stream_) - 1));
    next_draw_ = now + kRedrawSeconds;
  } else {
    print(fmt::format("{:3.0f} %  {}\n", 100 * done, text));
    next_draw_ = now + kLineSeconds;
  }
  drawn_ = true;
}

void ProgressBar::finish(std::string_view text) {
  finish();
  print(std::string(text) + "\n");
}

void ProgressBar::finish() {
  if (drawn_ && on_terminal_) {
    print(kClearLine);
  }
  drawn_ = false;
}

void ProgressBar::print(std::string_view text) {
  if (const std::optional<std::string> reason = cli::show(stream_, text)) {
    broken_ = *reason;
  }
}

}  // namespace cosmic::cli
