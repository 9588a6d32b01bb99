#include "report/page/facts.hpp"

#include <gmock/gmock.h>

namespace cosmic::report::page {
namespace {

TEST(FactList, keeps_the_order_in_which_facts_were_added) {
  FactList facts;
  facts.add("Network", "a21");
  facts.add("Date", "<b>today</b>");
  EXPECT_EQ(facts.html(),
            "<dl><dt>Network</dt><dd>a21</dd><dt>Date</dt><dd><b>today</b></dd></dl>");
}

TEST(ConfigurationListing, shows_settings_as_text_whatever_they_contain) {
  EXPECT_EQ(configuration_listing("id: <run>"), "<h3>Configuration</h3><pre>id: &lt;run&gt;</pre>");
  EXPECT_EQ(configuration_listing("a: 1", "given"),
            "<h3>Configuration</h3><pre class=\"given\">a: 1</pre>");
}

TEST(LegendEntry, puts_the_hue_before_its_meaning) {
  EXPECT_EQ(legend_entry("hue3", "conv"), "<span><i class=\"swatch dot hue3\"></i>conv</span>");
}

}  // namespace
}  // namespace cosmic::report::page
