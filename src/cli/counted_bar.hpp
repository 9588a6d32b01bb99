// Progress through a known number of things, in the shape that Python's tqdm made familiar:
//
//   [Epoch 02]: 100%|██████████| 3750/3750 [00:09<00:00, 376.43it/s, Loss=0.775]
//
// On a terminal the line redraws itself; elsewhere one line now and then keeps logs readable.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/stopwatch.hpp"

namespace cosmic::cli {

enum class Rate { hidden, shown };

struct CountedProgress {
  std::string_view label;
  std::int64_t done = 0;
  std::int64_t total = 1;
  double seconds = 0;  ///< since it began
  Rate rate = Rate::hidden;
  std::string_view text;  ///< after times and rate; may be empty
};

/// One line of at most `width` columns. The bar gives way first, then the end of the text.
std::string counted_line(const CountedProgress& progress, int width);

class CountedBar {
 public:
  CountedBar(std::string label, std::int64_t total, Rate rate = Rate::hidden);
  CountedBar(const CountedBar&) = delete;
  CountedBar& operator=(const CountedBar&) = delete;

  /// Is it time to draw again? Ten times a second on a terminal. Worth asking before making a text.
  bool is_due() const { return watch_.seconds() >= next_draw_; }
  void draw(std::int64_t done, std::string_view text = {});
  /// Leaves the full bar as a line of its own.
  void finish(std::string_view text = {});

 private:
  std::FILE* stream_ = stderr;
  bool on_terminal_;
  std::string label_;
  std::int64_t total_;
  Rate rate_;
  Stopwatch watch_;
  double next_draw_;
};

}  // namespace cosmic::cli
