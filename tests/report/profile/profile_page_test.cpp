#include "report/profile/profile_page.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/page/well_formed.hpp"
#include "report/profile/profile_json.hpp"

namespace cosmic::report::profile {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Three nodes: an image that lives on to the end, two that share their bytes.
RunProfile made_profile() {
  const graph::TensorType type{graph::DType::f32, {4}};
  RunProfile profile;
  profile.facts.date = "2026-01-01 00:00 UTC";
  profile.facts.run_id = "<run>";
  profile.facts.network = "a21";
  profile.facts.data = "events.h5";
  profile.facts.batch = "f32[1x3x8x8]";
  profile.facts.configuration = "run:\n  id: <run>\n";
  profile.machine.target = "somewhere";
  profile.machine.threads = 2;
  profile.machine.peak = target::Peak{1e9, 1e9};
  profile.compiled.seconds = 1;
  profile.compiled.passes = {{"differentiate", 0.25, 7}};
  profile.compiled.planning_seconds = 0.125;
  profile.compiled.kernels_seconds = 0.5;
  profile.memory.arena_bytes = 48;
  profile.memory.peak_live_bytes = 48;
  profile.memory.nodes = {
      {"conv", "first_layer"}, {"conv", "second_layer"}, {"leaky", "third & last"}};
  profile.memory.live_bytes = {16, 48, 32};
  profile.memory.tensors = {
      {0, type, 0, 16, 0, 3}, {1, type, 16, 32, 1, 1}, {2, type, 16, 16, 2, 3}};
  profile.memory.peak_node = 1;
  profile.memory.at_peak = {1, 0};
  profile.steps = 3;
  profile.steps_left_out = 1;
  profile.call_seconds = 0.01;
  profile.ops = {{"conv", "first_layer", "f32[4]", 1, 0.004, {1e6, 1e3}},
                 {"conv", "second_layer", "f32[4]", 1, 0.003, {1e6, 1e3}},
                 {"leaky", "third & last", "f32[4]", 1, 0.001, {0, 2e3}}};
  profile.time = {{kInsideProgram, 0.032}, {"waiting for data", 0.008}};
  profile.whole_seconds = 0.04;
  return profile;
}

TEST(ProfilePage, is_well_formed_and_asks_nothing_of_a_network) {
  const std::string html = to_page(made_profile());
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http")), Not(HasSubstr("src=")), Not(HasSubstr("url(")),
                          Not(HasSubstr("@import")), Not(HasSubstr("<script"))));
}

TEST(ProfilePage, names_layers_ops_passes_and_where_the_numbers_come_from) {
  const std::string html = to_page(made_profile());
  EXPECT_THAT(html, AllOf(HasSubstr("first_layer"), HasSubstr("second_layer"),
                          HasSubstr("third &amp; last"), HasSubstr("leaky"),
                          HasSubstr("differentiate"), HasSubstr("waiting for data")));
  EXPECT_THAT(html, AllOf(HasSubstr("every time measured"), HasSubstr("somewhere"),
                          HasSubstr("&lt;run&gt;"), HasSubstr("Alive at the peak")));
}

TEST(ProfilePage, says_modelled_where_times_come_from_a_formula) {
  RunProfile profile = made_profile();
  profile.machine.provenance = Provenance::modelled;
  EXPECT_THAT(to_page(profile),
              AllOf(HasSubstr("every time modelled"), Not(HasSubstr("measured"))));
}

TEST(ProfilePage, warns_of_a_run_of_one_step) {
  RunProfile profile = made_profile();
  profile.steps = 1;
  profile.steps_left_out = 0;
  EXPECT_THAT(to_page(profile), HasSubstr("only one step"));
}

TEST(ProfilePage, does_without_what_a_target_cannot_tell) {
  RunProfile profile = made_profile();
  profile.ops.clear();
  profile.machine.peak.reset();
  const std::string html = to_page(profile);
  EXPECT_EQ(page::what_is_malformed(html), "");
  EXPECT_THAT(html, HasSubstr("does not time ops"));
}

TEST(ProfileJson, has_every_figure_of_the_page) {
  const nlohmann::json json = nlohmann::json::parse(to_json(made_profile()));
  EXPECT_EQ(json.at("format"), "cosmictagger profile");
  EXPECT_EQ(json.at("format_version"), 1);
  EXPECT_EQ(json.at("machine").at("provenance"), "measured");
  EXPECT_EQ(json.at("machine").at("peak").at("flops_per_second"), 1e9);
  EXPECT_EQ(json.at("step").at("steps"), 3);
  EXPECT_EQ(json.at("ops").size(), 3U);
  const nlohmann::json& op = json.at("ops").at(0);
  EXPECT_EQ(op.at("layer"), "first_layer");
  EXPECT_EQ(op.at("type"), "f32[4]");
  EXPECT_DOUBLE_EQ(op.at("flops_per_second"), 2.5e8);
  EXPECT_DOUBLE_EQ(op.at("flops_per_byte"), 1000);
  EXPECT_DOUBLE_EQ(op.at("roofline_share"), 0.25);
  EXPECT_EQ(json.at("by_op").at(0).at("op"), "conv");
  EXPECT_EQ(json.at("by_layer").size(), 3U);
  EXPECT_EQ(json.at("memory").at("nodes").at(1).at("live_bytes"), 48);
  EXPECT_EQ(json.at("memory").at("alive_at_peak").at(0).at("layer"), "second_layer");
  EXPECT_EQ(json.at("compile").at("passes").at(0).at("name"), "differentiate");
  EXPECT_EQ(json.at("run_time").at("parts").at(1).at("what"), "waiting for data");
}

}  // namespace
}  // namespace cosmic::report::profile
