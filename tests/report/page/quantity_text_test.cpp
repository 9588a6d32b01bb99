#include "report/page/quantity_text.hpp"

#include <gtest/gtest.h>

namespace cosmic::report::page {
namespace {

/// With plain spaces, to be read here.
std::string plain(std::string text) {
  const std::string thin = "\xe2\x80\xaf";
  for (std::size_t at = text.find(thin); at != std::string::npos; at = text.find(thin)) {
    text.replace(at, thin.size(), " ");
  }
  return text;
}

TEST(QuantityText, has_three_digits_and_the_prefix_that_goes_with_them) {
  EXPECT_EQ(plain(quantity_text(0, "B")), "0 B");
  EXPECT_EQ(plain(quantity_text(7, "B")), "7.00 B");
  EXPECT_EQ(plain(quantity_text(999, "B")), "999 B");
  EXPECT_EQ(plain(quantity_text(999.7, "B")), "1.00 kB");
  EXPECT_EQ(plain(quantity_text(1.234e10, "FLOP/s")), "12.3 GFLOP/s");
  EXPECT_EQ(plain(quantity_text(1e20, "B")), "100000 PB");
}

TEST(SecondsText, goes_from_microseconds_to_minutes) {
  EXPECT_EQ(plain(seconds_text(0)), "0 \xc2\xb5s");
  EXPECT_EQ(plain(seconds_text(2.5e-5)), "25.0 \xc2\xb5s");
  EXPECT_EQ(plain(seconds_text(0.0123)), "12.3 ms");
  EXPECT_EQ(plain(seconds_text(0.9999)), "1.00 s");
  EXPECT_EQ(plain(seconds_text(90)), "90.0 s");
  EXPECT_EQ(plain(seconds_text(3600)), "60.0 min");
}

}  // namespace
}  // namespace cosmic::report::page
