#include "core/crc32c.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cosmic {
namespace {

TEST(Crc32c, gives_the_check_values_of_the_standard) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  // RFC 3720, appendix B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

}  // namespace
}  // namespace cosmic
