#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "cli/counted_bar.hpp"
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

TEST(CountedLine, has_the_shape_of_the_tutorial) {
  const CountedProgress epoch{"[Epoch 02]", 3750, 3750, 9.96, Rate::shown, "Loss=0.775"};
  EXPECT_EQ(counted_line(epoch, 76),
            "[Epoch 02]: 100%|██████████| 3750/3750 [00:09<00:00, 376.51it/s, Loss=0.775]");
  const CountedProgress compilation{"Graph compilation", 50, 100, 39, Rate::hidden, ""};
  EXPECT_EQ(counted_line(compilation, 56),
            "Graph compilation:  50%|█████     | 50/100 [00:39<00:39]");
}

TEST(CountedLine, never_exceeds_the_terminal) {
  const CountedProgress progress{"[Epoch 02]", 500, 3750, 4000, Rate::shown, "Loss=0.775"};
  for (int width = 10; width < 150; ++width) {
    EXPECT_LE(columns_of(counted_line(progress, width)), static_cast<std::size_t>(width));
  }
}

TEST(CountedLine, promises_no_end_before_it_has_begun) {
  EXPECT_THAT(counted_line({"[Epoch 01]", 0, 10, 2, Rate::shown, ""}, 60),
              HasSubstr("0/10 [00:02<?]"));
}

}  // namespace
}  // namespace cosmic::cli
