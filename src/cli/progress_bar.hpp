// Shows how far something is: on a terminal a bar that redraws itself, elsewhere a plain line now
// and then, so that logs stay readable.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "core/stopwatch.hpp"

namespace cosmic::cli {

/// Columns of the terminal behind the stream; 80 if there is no terminal. Rows: 24.
int terminal_width(std::FILE* stream);
int terminal_height(std::FILE* stream);
bool is_terminal(std::FILE* stream);

/// One line of at most `width` columns: bar, share done, remaining time, text.
std::string progress_line(double done, double seconds, std::string_view text, int width);

class ProgressBar {
 public:
  /// What takes less than `patience_seconds` is never shown.
  explicit ProgressBar(double patience_seconds = 0) : patience_seconds_(patience_seconds) {}
  ~ProgressBar() { finish(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Cheap enough to call often: draws ten times a second at most. `done` is 0 to 1.
  void update(double done, std::string_view text);
  /// Leaves the last text as a line of its own and ends the bar.
  void finish(std::string_view text);
  /// Takes the bar away.
  void finish();
  /// Why nothing is shown any more; empty while that is not so.
  const std::string& broken() const { return broken_; }

 private:
  void print(std::string_view text);

  std::FILE* stream_ = stderr;
  bool on_terminal_ = is_terminal(stderr);
  double patience_seconds_;
  Stopwatch watch_;
  double next_draw_ = 0;
  bool drawn_ = false;
  std::string broken_;
};

}  // namespace cosmic::cli
