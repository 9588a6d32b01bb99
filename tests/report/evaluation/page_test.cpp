#include "report/evaluation/page.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "report/evaluation/json.hpp"
#include "report/evaluation/made_evaluation.hpp"
#include "report/page/well_formed.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic::report::evaluation {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

EventView made_view(const EventResult& result) {
  EventView view;
  view.result = result;
  view.shape = {10, 16};
  for (int plane = 0; plane < 3; ++plane) {
    view.planes.push_back(
        {{2, 2, 5, 8}, picture::Picture(10, 16), picture::Picture(5, 8), picture::Picture(5, 8)});
  }
  return view;
}

Evaluation full_evaluation(const std::string& data = "events.h5") {
  std::vector<EventResult> events;
  for (std::int64_t entry = 0; entry < 40; ++entry) {
    events.push_back(neutrino_event(entry, 10 + entry % 11, entry % 5, 0.02 * double(entry)));
    events.back().neutrino = TrueNeutrino{0.1 * double(entry), Interaction::muon_charged};
  }
  Evaluation evaluation = made_evaluation(events, data);
  evaluation.selection.emplace(std::vector<double>{0.9, 0.8, 0.3}, std::vector<double>{0.1, 0.4});
  evaluation.cosmic_only = CosmicOnlyKind::neutrino_removed;
  evaluation.best = {made_view(events[0])};
  evaluation.worst = {made_view(events[1])};
  evaluation.curve.training = {{0, 3, 0.1}, {1, 2, 0.2}};
  data::SparseImage probabilities;
  for (data::SparsePlane& plane : probabilities) {
    plane.meta.pixels = {2, 1};
    plane.ids = {0, 1};
    plane.values = {0.2F, 0.8F};
  }
  evaluation.pixel_scores.add(probabilities, std::vector<std::uint8_t>{0, 2, 0, 2, 2, 0});
  return evaluation;
}

TEST(Page, is_well_formed) {
  EXPECT_EQ(page::what_is_malformed(page(full_evaluation())), "");
}

TEST(WellFormedness, is_missed_by_a_broken_page) {
  EXPECT_EQ(page::what_is_malformed("<!DOCTYPE html>\n<p class=\"a\">b &lt; c<br/></p>"), "");
  EXPECT_NE(page::what_is_malformed("<!DOCTYPE html><p>a<b>c</p></b>"), "");
  EXPECT_NE(page::what_is_malformed("<!DOCTYPE html><p>a & b</p>"), "");
  EXPECT_NE(page::what_is_malformed("<!DOCTYPE html><p>a < b</p>"), "");
  EXPECT_NE(page::what_is_malformed("<!DOCTYPE html><p class=a>b</p>"), "");
  EXPECT_NE(page::what_is_malformed("<!DOCTYPE html><p>"), "");
  EXPECT_NE(page::what_is_malformed("<p></p>"), "");
}

TEST(Page, shows_the_figures_that_the_counts_give) {
  // Efficiency 15 of 20, purity 15 of 20, IoU 15 of 25.
  Evaluation evaluation = made_evaluation(std::vector<EventResult>(35, neutrino_event(0, 15, 5)));
  const std::string html = page(evaluation);
  EXPECT_THAT(html, HasSubstr("finds 75.0\xe2\x80\xaf% of the neutrino pixels in 35 events"));
  EXPECT_THAT(html, HasSubstr("60.00\xe2\x80\xaf%"));
  EXPECT_THAT(html, HasSubstr("below the reference"));
  EXPECT_THAT(html, Not(HasSubstr("above the reference")));
  evaluation = made_evaluation(std::vector<EventResult>(35, neutrino_event(0, 20, 0)));
  EXPECT_THAT(page(evaluation), HasSubstr("above the reference"));
  EXPECT_THAT(page(evaluation), Not(HasSubstr("below the reference")));
}

TEST(Page, asks_nothing_of_a_network_and_runs_nothing) {
  const std::string html = page(full_evaluation());
  EXPECT_THAT(html, Not(HasSubstr("https")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  // What is referred to is in the page; a link to the display of this machine loads nothing.
  const std::regex reference("(src|href)=\"([^\"]{0,30})");
  int references = 0;
  for (std::sregex_iterator found(html.begin(), html.end(), reference), end; found != end;
       ++found) {
    const std::string target = (*found)[2];
    EXPECT_TRUE(target.starts_with("#") || target.starts_with("data:image/png;base64,") ||
                ((*found)[1] == "href" && target.starts_with("http://127.0.0.1:8420/#event=")))
        << target;
    ++references;
  }
  EXPECT_GT(references, 10);
}

TEST(Page, shows_hostile_names_as_text) {
  const std::string name = "x\"><script>alert('1')</script>&amp;\xff.h5";
  Evaluation evaluation = full_evaluation(name);
  evaluation.provenance.weights = name;
  evaluation.provenance.network = name;
  evaluation.provenance.run_id = name;
  evaluation.provenance.configuration = "file: " + name;
  const std::string html = page(evaluation);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;"));
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(to_json(evaluation), HasSubstr("<script>"));  // JSON escapes in its own way
  EXPECT_NO_THROW(nlohmann::json::parse(to_json(evaluation)));
}

TEST(Page, says_when_the_events_were_trained_on) {
  Evaluation evaluation = full_evaluation();
  EXPECT_THAT(page(evaluation), Not(HasSubstr("was trained on these events")));
  evaluation.provenance.trained_on_these = true;
  EXPECT_THAT(page(evaluation), HasSubstr("was trained on these events"));
  evaluation.provenance.trained_on_these = std::nullopt;
  EXPECT_THAT(page(evaluation), HasSubstr("not known"));
}

TEST(Page, says_when_events_are_few_or_left_out) {
  Evaluation few = made_evaluation({neutrino_event(0, 15, 5)});
  EXPECT_THAT(page(few), HasSubstr("With 1 events"));
  few.entries = 7;
  EXPECT_THAT(page(few), HasSubstr("Only 1 of the file"));
  EXPECT_EQ(page::what_is_malformed(page(few)), "");
}

TEST(Page, says_what_cannot_be_shown_without_neutrinos) {
  const Evaluation evaluation =
      made_evaluation({made_event(0, {{{900, 0, 0}, {10, 90, 0}, {0, 0, 0}}}),
                       made_event(1, {{{900, 0, 3}, {10, 87, 0}, {0, 0, 0}}})});
  const std::string html = page(evaluation);
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(html, HasSubstr("without any neutrino pixel"));
  EXPECT_THAT(html, HasSubstr("no efficiency to show"));
  EXPECT_FALSE(std::regex_search(html, std::regex("[^a-z]nan[^a-z]")));
  const auto json = nlohmann::json::parse(to_json(evaluation));
  EXPECT_TRUE(json.at("selection").is_null());
  EXPECT_TRUE(json.at("all_planes").at("classes").at("neutrino").at("efficiency").is_null());
  EXPECT_THAT(json.at("by_neutrino_pixels"), IsEmpty());
}

TEST(Page, tells_tags_without_charge_from_other_mistakes) {
  EventResult event = neutrino_event(0, 15, 5);  // 60 tagged, 45 of them rightly
  event.tagged_without_charge = 10;
  const std::string html = page(made_evaluation({event}));
  EXPECT_THAT(html, HasSubstr("10 (16.7\xe2\x80\xaf%) have no charge"));
  EXPECT_THAT(html, HasSubstr("the purity is 90.0\xe2\x80\xaf%"));
}

TEST(Page, says_where_cosmic_only_events_come_from) {
  Evaluation evaluation = full_evaluation();
  EXPECT_THAT(page(evaluation), HasSubstr("charge of every true neutrino pixel set to zero"));
  evaluation.cosmic_only = CosmicOnlyKind::real;
  EXPECT_THAT(page(evaluation), Not(HasSubstr("set to zero")));
}

TEST(Json, has_the_numbers_of_the_page) {
  const Evaluation evaluation = full_evaluation();
  const auto json = nlohmann::json::parse(to_json(evaluation));
  EXPECT_EQ(json.at("format"), "cosmictagger evaluation");
  EXPECT_EQ(json.at("format_version"), 1);
  EXPECT_EQ(json.at("events"), 40);
  EXPECT_EQ(json.at("metrics").size(), 20U);
  EXPECT_EQ(json.at("metrics").at("Average/Neutrino_IoU"),
            evaluation.score("Average/Neutrino_IoU"));
  ASSERT_EQ(json.at("planes").size(), 3U);
  const auto& confusion = json.at("planes")[1].at("confusion");
  EXPECT_EQ(confusion[0][0], 40 * 900);
  EXPECT_EQ(json.at("all_planes").at("classes").at("neutrino").at("true_pixels"), 40 * 60);
  EXPECT_EQ(json.at("provenance").at("step"), 7);
  EXPECT_EQ(json.at("provenance").at("data_fingerprint"), "34cd");
  EXPECT_EQ(json.at("selection").at("neutrino_events"), 3);
  EXPECT_EQ(json.at("selection").at("scan").size(), 101U);
  EXPECT_EQ(json.at("selection").at("working_points")[0].at("wanted_neutrino_share"), 0.99);
  EXPECT_EQ(json.at("probabilities").at("pixels"), 6);
  EXPECT_EQ(json.at("probabilities").at("neutrino_pixels"), 3);
  EXPECT_EQ(json.at("shown").at("best")[0], 0);
  ASSERT_EQ(json.at("per_event").size(), 40U);
  EXPECT_EQ(json.at("per_event")[3].at("interaction"), "muon neutrino, charged current");
  const auto& bin = json.at("by_neutrino_pixels").back();
  EXPECT_EQ(bin.at("events"), 40);
  EXPECT_LT(bin.at("efficiency").at("low"), bin.at("efficiency").at("value"));
}

TEST(Page, opens_in_a_browser_and_lays_out_without_complaint) {
  if (!has_program("chromium")) {
    GTEST_SKIP() << "needs a browser (package chromium)";
  }
  const ScratchFolder folder("page");
  std::ofstream(folder / "page.html") << page(full_evaluation());
  const std::string browser =
      "cd " + folder.path().string() +
      " && HOME=. timeout 120 chromium --headless --no-sandbox --disable-gpu"
      " --disable-dev-shm-usage --window-size=1240,3000 --enable-logging=stderr"
      " --screenshot=page.png file://$PWD/page.html";
  const CommandResult result = run_command(browser);
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("CONSOLE")));  // the page has nothing to complain about
  EXPECT_GT(std::filesystem::file_size(folder / "page.png"), 50'000U);  // more than white
}

}  // namespace
}  // namespace cosmic::report::evaluation
