#include "cli/counted_bar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/progress_bar.hpp"
#include "cli/progress_pace.hpp"
#include "cli/standard_streams.hpp"

namespace cosmic::cli {
namespace {

constexpr int kWidthOfLogs = 100;  // columns where there is no terminal to fit
constexpr const char* kRedrawLine = "\r\033[K";

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(std::floor(seconds), 359'999.0));
  return whole < 3600 ? fmt::format("{:02}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string counted_line(const CountedProgress& progress, int width) {
  const double done = static_cast<double>(progress.done);
  const double share = done / static_cast<double>(std::max<std::int64_t>(progress.total, 1));
  const bool began = progress.done > 0 && progress.seconds > 0;
  std::string tail =
      fmt::format("| {}/{} [{}<{}", progress.done, progress.total, clock_text(progress.seconds),
                  began ? clock_text(progress.seconds * (1 - share) / share) : "?");
  if (progress.rate == Rate::shown && began) {
    tail += fmt::format(", {:.2f}it/s", done / progress.seconds);
  }
  if (!progress.text.empty()) {
    tail += fmt::format(", {}", progress.text);
  }
  tail += "]";
  std::string line = fmt::format("{}: {:3.0f}%|", progress.label, std::floor(100 * share));
  const int room = width - static_cast<int>(line.size() + tail.size());
  const int filled = static_cast<int>(share * room);
  for (int column = 0; column < room; ++column) {
    line += column < filled ? "█" : " ";
  }
  line += tail;
  if (room < 0) {
    line.resize(static_cast<std::size_t>(width));
  }
  return line;
}

CountedBar::CountedBar(std::string label, std::int64_t total, Rate rate)
    : on_terminal_(is_terminal(stream_)),
      label_(std::move(label)),
      total_(total),
      rate_(rate),
      next_draw_(on_terminal_ ? 0 : kLineSeconds) {}

void CountedBar::draw(std::int64_t done, std::string_view text) {
  const double now = watch_.seconds();
  const CountedProgress progress{label_, done, total_, now, rate_, text};
  if (on_terminal_) {
    show(stream_, kRedrawLine + counted_line(progress, terminal_width(stream_) - 1));
    next_draw_ = now + kRedrawSeconds;
  } else {
    show(stream_, counted_line(progress, kWidthOfLogs) + "\n");
    next_draw_ = now + kLineSeconds;
  }
}

void CountedBar::finish(std::string_view text) {
  draw(total_, text);
  if (on_terminal_) {
    show(stream_, "\n");
  }
}

}  // namespace cosmic::cli
