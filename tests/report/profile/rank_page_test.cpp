#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/page/well_formed.hpp"
#include "report/profile/rank_profile.hpp"

namespace cosmic::report::profile {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RankProfile made_ranks() {
  RankProfile profile;
  profile.facts.date = "2026-01-01 00:00 UTC";
  profile.facts.run_id = "<run>";
  profile.facts.network = "a21";
  profile.facts.data = "events.h5";
  profile.facts.batch = "f32[1x3x8x8]";
  profile.facts.events_per_batch = 12;
  profile.facts.configuration = "run:\n  id: <run>\n";
  profile.threads = 2;
  profile.updates = 3;
  profile.ranks = {{"left & right", "profile.html", 6, 1, 1, 0.5, 1.5, 1},
                   {"node2", "rank_1/profile.html", 9, 0.5, 0, 0.5, 0, 1},
                   {"node2", "rank_2/profile.html", 6, 0, 0, 0.5, 3.5, 1}};
  profile.latest = {{0, 1, 1.0, 1.5, 2.0}, {1, 0, 1.0, 1.1, 1.2}, {2, 1, 1.0, 1.5, 2.5}};
  profile.widest = {profile.latest[2], profile.latest[0], profile.latest[1]};
  return profile;
}

TEST(RankPage, is_well_formed_and_asks_nothing_of_a_network) {
  const std::string html = to_page(made_ranks());
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http")), Not(HasSubstr("src=")), Not(HasSubstr("url(")),
                          Not(HasSubstr("@import")), Not(HasSubstr("<script"))));
}

TEST(RankPage, names_the_slowest_rank_and_says_how_much_longer_it_worked) {
  const RankProfile profile = made_ranks();
  EXPECT_EQ(profile.slowest(), 1U);
  EXPECT_DOUBLE_EQ(profile.slowest_factor(), 9.5 / 8);
  EXPECT_DOUBLE_EQ(profile.share(&RankTimes::waiting), 5.0 / 30);
  const std::string html = to_page(profile);
  EXPECT_THAT(html,
              AllOf(HasSubstr("<b>rank 1 on host node2</b> worked longest, 1.19 times"),
                    HasSubstr("class=\"rank slowest\"><span class=\"who\">rank 1"),
                    HasSubstr("left &amp; right"), HasSubstr("href=\"rank_2/profile.html\"")));
}

TEST(RankPage, lists_the_updates_with_the_largest_spread_first) {
  const std::string html = to_page(made_ranks());
  const std::size_t list = html.find("Updates with the largest spread");
  ASSERT_NE(list, std::string::npos);
  EXPECT_LT(html.find("<th scope=\"row\">2</th>", list),
            html.find("<th scope=\"row\">0</th>", list));
}

TEST(RankPage, has_the_same_numbers_in_the_json) {
  const auto json = nlohmann::json::parse(to_json(made_ranks()));
  EXPECT_EQ(json["format"], "cosmictagger ranks");
  EXPECT_EQ(json["provenance"], "measured");
  EXPECT_EQ(json["updates"], 3);
  EXPECT_EQ(json["slowest_rank"], 1);
  ASSERT_EQ(json["ranks"].size(), 3U);
  double sum = 0;
  for (const char* part : {"computing_seconds", "waiting_for_data_seconds", "writing_seconds",
                           "exchange_seconds", "waiting_for_others_seconds", "starting_seconds"}) {
    sum += json["ranks"][0][part].get<double>();
  }
  EXPECT_DOUBLE_EQ(json["ranks"][0]["seconds"], sum);
  EXPECT_EQ(json["widest_updates"][0]["step"], 2);
  EXPECT_EQ(json["latest_updates"].size(), 3U);
}

TEST(RankPage, of_a_modelled_machine_says_whose_clock_it_is) {
  RankProfile profile = made_ranks();
  profile.provenance = Provenance::modelled;
  EXPECT_THAT(to_page(profile), AllOf(HasSubstr("(host clock of a modelled run)"),
                                      HasSubstr("say nothing about the machine"),
                                      Not(HasSubstr("every time measured"))));
  EXPECT_THAT(to_json(profile), HasSubstr("(host clock of a modelled run)"));
}

TEST(RankPage, of_a_run_without_an_update_has_no_picture_of_updates) {
  RankProfile profile = made_ranks();
  profile.updates = 0;
  profile.widest.clear();
  profile.latest.clear();
  const std::string html = to_page(profile);
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(html, Not(HasSubstr("Update by update")));
}

}  // namespace
}  // namespace cosmic::report::profile
