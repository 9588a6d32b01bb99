#include "core/printable.hpp"

#include <gtest/gtest.h>

namespace cosmic {
namespace {

TEST(Printable, leaves_plain_text_as_it_is) {
  EXPECT_EQ(printable("run.id=01 ~"), "'run.id=01 ~'");
  EXPECT_EQ(printable(""), "''");
}

TEST(Printable, lets_nothing_through_that_a_terminal_obeys) {
  EXPECT_EQ(printable("\x1b[2J\n\x7f\xc2\x9b"), "'\\x1b[2J\\x0a\\x7f\\xc2\\x9b'");
}

TEST(Printable, escaped_text_has_no_quotes_and_is_not_cut) {
  EXPECT_EQ(escaped(std::string(1000, 'x')), std::string(1000, 'x'));
  EXPECT_EQ(escaped("a\tb"), "a\\x09b");
}

TEST(Printable, fits_a_line) {
  EXPECT_EQ(printable(std::string(1000, 'x')), "'" + std::string(80, 'x') + "...'");
}

}  // namespace
}  // namespace cosmic
