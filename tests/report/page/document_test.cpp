#include "report/page/document.hpp"

#include <gmock/gmock.h>

#include "report/page/plot.hpp"
#include "report/page/well_formed.hpp"

namespace cosmic::report::page {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Document document() {
  Document result;
  result.title = "a < b";
  result.program = "program \"1\"";
  result.overline = "over";
  result.heading = "Heading";
  result.lead = "Lead";
  result.byline = "By";
  result.notices = {"Notice"};
  result.sections = {{"one", "One", "First", "<p>content</p>"}, {"two", "Two", "Second", ""}};
  result.footer = written_by("program", "r<1", "today");
  return result;
}

TEST(Document, is_well_formed_and_asks_nothing_of_a_network) {
  const std::string html = to_html(document());
  EXPECT_EQ(what_is_malformed(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http")), Not(HasSubstr("src=")), Not(HasSubstr("@import")),
                          Not(HasSubstr("url(")), Not(HasSubstr("<script"))));
}

TEST(Document, leaves_out_a_section_without_content) {
  const std::string html = to_html(document());
  EXPECT_THAT(html, AllOf(HasSubstr("<a href=\"#one\">One</a>"), HasSubstr("<h2>First</h2>")));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("#two")), Not(HasSubstr("Second"))));
}

TEST(Plot, shows_what_a_dot_is_to_who_points_at_it) {
  Plot plot;
  plot.description = "dots";
  plot.width = kWidePlot;
  plot.series = {{"ops", SeriesLook::dots, SeriesTone::first, {{.x = 0.5, .y = 0.5}}}};
  plot.series[0].points[0].title = "layer <1>";
  const std::string svg = draw(plot);
  EXPECT_EQ(what_is_malformed("<!DOCTYPE html>" + svg), "");
  EXPECT_THAT(svg, AllOf(HasSubstr("viewBox=\"0 0 1064"),
                         HasSubstr("<title>layer &lt;1&gt;</title></circle>")));
}

}  // namespace
}  // namespace cosmic::report::page
