#include "output/step_profile.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic::output {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// `iterations` of 10 ms each: io 1 ms twice, step 5 ms, both within train, 8 ms.
StepProfile made_up_profile(std::int64_t iterations, const StepProfile::Kept& kept = {}) {
  StepProfile profile(kept);
  auto now = StepProfile::Clock::now();
  for (std::int64_t i = 0; i < iterations; ++i) {
    profile.begin_iteration(i, now);
    profile.add(Phase::io, now, now + 1ms);
    profile.add(Phase::io, now + 1ms, now + 2ms);
    profile.add(Phase::step, now + 2ms, now + 7ms);
    profile.add(Phase::train, now, now + 8ms);
    now += 10ms;
    profile.end_iteration(now);
  }
  return profile;
}

TEST(StepProfile, adds_up_what_an_iteration_does_more_than_once) {
  const StepProfile profile = made_up_profile(3);
  EXPECT_THAT(profile.iteration_times().last, ElementsAre(0.01, 0.01, 0.01));
  EXPECT_DOUBLE_EQ(profile.latest_seconds(Phase::io), 0.002);
  EXPECT_DOUBLE_EQ(profile.latest_seconds(Phase::step), 0.005);
  EXPECT_DOUBLE_EQ(profile.latest_seconds(Phase::val), 0);
}

TEST(StepProfile, times_a_phase_while_its_timing_lives) {
  StepProfile profile;
  profile.begin_iteration(0);
  const auto before = StepProfile::Clock::now();
  {
    const auto timing = profile.time(Phase::checkpoint);
    while (StepProfile::Clock::now() < before + 1ms) {
    }
  }
  const std::chrono::duration<double> most = StepProfile::Clock::now() - before;
  EXPECT_GT(profile.latest_seconds(Phase::checkpoint), 0);
  EXPECT_LE(profile.latest_seconds(Phase::checkpoint), most.count());
}

TEST(StepProfile, table_shows_the_phases_there_were_and_their_share) {
  EXPECT_THAT(made_up_profile(4).table(),
              AllOf(HasSubstr("iteration             4       10.000       10.000        0.040   "
                              "100.0%"),
                    HasSubstr("io                    4        2.000        2.000        0.008    "
                              "20.0%"),
                    HasSubstr("step "), Not(HasSubstr("checkpoint"))));
}

TEST(StepProfile, numpy_file_has_the_fields_of_the_reference) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "profiles" / "profiling_info_rank_0.npy";
  const auto wall = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const std::int64_t before = wall();
  StepProfile profile = made_up_profile(2);
  profile.begin_iteration(2);  // has not ended, so it is no row
  profile.write_numpy(path);
  const CommandResult read =
      run_command("python3 tests/output/read_profile.py '" + path.string() + "'");
  ASSERT_EQ(read.status, 0) << read.output;
  const json file = json::parse(read.output);

  std::vector<std::string> names;
  for (const json& field : file["fields"]) {
    names.push_back(field[0]);
    EXPECT_EQ(field[1], names.back() == "i"       ? "<i4"
                        : names.back() == "start" ? "<M8[us]"
                                                  : "<m8[us]");
  }
  EXPECT_THAT(names,
              ElementsAre("i", "start", "iteration", "train", "val", "io", "forward", "backward",
                          "checkpoint", "loss", "summary", "log", "optimizer", "metrics", "step"));
  ASSERT_EQ(file["rows"].size(), 2U);
  const json& row = file["rows"][1];
  EXPECT_EQ(row["i"], 1);
  EXPECT_GE(row["start"].get<std::int64_t>(), before);
  EXPECT_EQ(row["start"].get<std::int64_t>() - file["rows"][0]["start"].get<std::int64_t>(), 10000);
  EXPECT_EQ(row["iteration"], 10000);
  EXPECT_EQ(row["train"], 8000);
  EXPECT_EQ(row["io"], 2000);
  EXPECT_EQ(row["step"], 5000);
  EXPECT_EQ(row["val"], 0);
  EXPECT_TRUE(row["forward"].is_null()) << "a compiled step has no forward pass of its own";
}

TEST(StepProfile, timeline_has_nested_stretches_in_microseconds) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "timeline_2.json";
  made_up_profile(2).write_timeline(path, Provenance::measured, 3);
  const json trace = json::parse(content_of(path));
  const json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 1U + 2 * 5);
  EXPECT_EQ(events[0]["ph"], "M");
  EXPECT_EQ(events[0]["args"]["name"], "rank 3");
  const json& step = events[3];
  EXPECT_EQ(step["name"], "step");
  EXPECT_EQ(step["ph"], "X");
  EXPECT_EQ(step["pid"], 3);
  EXPECT_DOUBLE_EQ(step["dur"], 5000);
  EXPECT_EQ(step["args"]["iteration"], 0);
  const json& iteration = events[5];
  EXPECT_EQ(iteration["name"], "iteration");
  EXPECT_NEAR(step["ts"].get<double>() - iteration["ts"].get<double>(), 2000, 0.01);
  EXPECT_NEAR(events[10]["ts"].get<double>() - iteration["ts"].get<double>(), 10000, 0.01);
}

TEST(StepProfile, timeline_of_a_long_run_keeps_the_latest_iterations) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "timeline.json";
  made_up_profile(50, {.traced = 4, .iterations = 50}).write_timeline(path, Provenance::measured);
  const json events = json::parse(content_of(path))["traceEvents"];
  ASSERT_EQ(events.size(), 1U + 4 * 5);
  EXPECT_EQ(events[1]["args"]["iteration"], 46);
  EXPECT_EQ(events.back()["args"]["iteration"], 49);
}

TEST(StepProfile, of_a_long_run_forgets_early_iterations_but_not_their_time) {
  const StepProfile profile = made_up_profile(5000, {.traced = 10, .iterations = 100});
  const IterationTimes times = profile.iteration_times();
  EXPECT_EQ(times.count, 5000);
  EXPECT_NEAR(times.seconds, 50, 1e-6);
  EXPECT_THAT(times.first, ElementsAre(0.01, 0.01));
  EXPECT_EQ(times.last.size(), 40U);
  EXPECT_NEAR(profile.all_seconds(Phase::step), 25, 1e-6);
  EXPECT_THAT(profile.table(), AllOf(HasSubstr("iteration          5000"), HasSubstr("50.000")));
  const ScratchFolder folder;
  profile.write_numpy(folder / "profile.npy");
  EXPECT_THAT(content_of(folder / "profile.npy"), HasSubstr("'shape': (100,)"));
}

}  // namespace
}  // namespace cosmic::output
