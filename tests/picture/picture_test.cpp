#include "picture/picture.hpp"

#include <gtest/gtest.h>

namespace cosmic::picture {
namespace {

TEST(Picture, shrinking_keeps_the_brightest_pixel) {
  Picture picture(4, 4);
  picture.at(1, 3) = {200, 0, 0};
  const Picture small = shrink_to(picture, 2);
  EXPECT_EQ(small.columns, 2);
  EXPECT_EQ(small.at(0, 1), (Color{200, 0, 0}));
  EXPECT_EQ(small.at(1, 1), Color{});
}

}  // namespace
}  // namespace cosmic::picture
