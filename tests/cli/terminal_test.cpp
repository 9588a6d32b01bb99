#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "cli/progress_bar.hpp"

namespace cosmic::cli {
namespace {

using testing::HasSubstr;

/// Columns a UTF-8 text takes on a terminal, if none of its characters is wide.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST(ProgressLine, never_exceeds_the_terminal) {
  const std::string text(60, 'x');
  for (int width = 20; width < 150; ++width) {
    EXPECT_LE(columns_of(progress_line(0.5, 100, text, width)), static_cast<std::size_t>(width));
  }
}

TEST(ProgressLine, tells_share_and_remaining_time) {
  const std::string line = progress_line(0.25, 30, "loss 1", 100);
  EXPECT_THAT(line, HasSubstr("25 %"));
  EXPECT_THAT(line, HasSubstr("1:30 left"));
  EXPECT_THAT(line, HasSubstr("loss 1"));
}

}  // namespace
}  // namespace cosmic::cli
