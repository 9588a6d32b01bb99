#include "core/utc_time.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cosmic {
namespace {

class TimeOfFiles : public testing::Test {
 protected:
  ~TimeOfFiles() override { unsetenv("SOURCE_DATE_EPOCH"); }
};

TEST_F(TimeOfFiles, is_the_one_that_SOURCE_DATE_EPOCH_gives) {
  setenv("SOURCE_DATE_EPOCH", "1750000000", 1);
  EXPECT_EQ(utc_now(), "2025-06-15 15:06 UTC");
}

TEST_F(TimeOfFiles, is_now_if_that_is_no_number) {
  for (const char* const text : {"", "yesterday", "1750000000x", "99999999999999999999"}) {
    setenv("SOURCE_DATE_EPOCH", text, 1);
    EXPECT_NE(utc_now(), "2025-06-15 15:06 UTC") << text;
    EXPECT_TRUE(utc_now().ends_with(" UTC"));
  }
}

}  // namespace
}  // namespace cosmic
