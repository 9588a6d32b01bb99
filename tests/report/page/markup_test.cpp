#include "report/page/markup.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cosmic::report::page {
namespace {

TEST(Markup, makes_text_harmless_in_elements_and_attributes) {
  EXPECT_EQ(escaped("<b onclick=\"x\">&'"), "&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escaped("neutrino \xce\xbd"), "neutrino \xce\xbd");
}

TEST(Markup, replaces_what_is_no_text) {
  EXPECT_EQ(escaped("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(escaped("\xce"), "\xef\xbf\xbd");                                  // cut off
  EXPECT_EQ(escaped("\xc0\xbc"), "\xef\xbf\xbd\xef\xbf\xbd");                  // '<' the long way
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  EXPECT_EQ(escaped(std::string_view("a\0\x1b[b\n", 6)), "a  [b\n");
}

TEST(Markup, writes_base64_with_its_padding) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Markup, writes_numbers_for_people) {
  EXPECT_EQ(percent_text(0.9734), "97.3\xe2\x80\xaf%");
  EXPECT_EQ(percent_text(std::nan("")), "\xe2\x80\x93");
  EXPECT_EQ(count_text(1234), "1234");
  EXPECT_EQ(count_text(1234567),
            "1\xe2\x80\xaf"
            "234\xe2\x80\xaf"
            "567");
}

}  // namespace
}  // namespace cosmic::report::page
