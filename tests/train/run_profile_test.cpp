// The profile of a real training: what it says adds up.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/page/well_formed.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

using testing::HasSubstr;
using testing::Not;

class RunProfile : public testing::Test {
 protected:
  RunProfile() {
    write_random_events(folder() / "train.h5", 9, 1);
    write_random_events(folder() / "test.h5", 4, 2);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path profiles() const { return folder() / "out" / "profiles"; }
  nlohmann::json json() const {
    return nlohmann::json::parse(content_of(profiles() / "profile.json"));
  }
  TrainingSummary run(const std::vector<std::string>& words) {
    return train(tiny_configuration(folder(), config::Mode::train, words), "cpu", log_.log());
  }

 private:
  RunFolder folder_;
  KeptLog log_;
};

double sum_of(const nlohmann::json& list, const char* key) {
  double sum = 0;
  for (const nlohmann::json& entry : list) {
    sum += entry.at(key).get<double>();
  }
  return sum;
}

TEST_F(RunProfile, is_written_only_if_asked_for) {
  run({});
  EXPECT_FALSE(std::filesystem::exists(profiles() / "profile.html"));
  EXPECT_FALSE(std::filesystem::exists(profiles() / "profile.json"));
}

TEST_F(RunProfile, has_times_of_ops_that_add_up_to_less_than_the_step) {
  run({"run.profile=true"});
  const nlohmann::json profile = json();
  EXPECT_EQ(profile.at("step").at("steps"), 5);
  EXPECT_EQ(profile.at("step").at("steps_left_out"), 1);
  const double step = profile.at("step").at("seconds");
  const double ops = sum_of(profile.at("ops"), "seconds");
  EXPECT_GT(ops, 0);
  EXPECT_LE(ops, step);
  EXPECT_NEAR(sum_of(profile.at("by_op"), "seconds"), ops, 1e-9);
  EXPECT_NEAR(sum_of(profile.at("by_layer"), "seconds"), ops, 1e-9);
  EXPECT_NEAR(sum_of(profile.at("by_op"), "flops"), sum_of(profile.at("ops"), "flops"), 1);
}

TEST_F(RunProfile, has_parts_of_the_run_that_add_up_to_the_whole) {
  const TrainingSummary summary = run({"run.profile=true", "mode.checkpoint_iteration=2"});
  const nlohmann::json time = json().at("run_time");
  EXPECT_NEAR(sum_of(time.at("parts"), "seconds"), time.at("seconds"), 1e-6);
  for (const nlohmann::json& part : time.at("parts")) {
    EXPECT_GE(part.at("seconds"), 0) << part.at("what");
  }
  EXPECT_GE(time.at("seconds"), json().at("compile").at("seconds"));
  EXPECT_GT(summary.seconds, 0);
}

TEST_F(RunProfile, has_live_bytes_whose_peak_is_that_of_the_plan) {
  run({"run.profile=true"});
  const nlohmann::json memory = json().at("memory");
  std::int64_t peak = 0;
  for (const nlohmann::json& node : memory.at("nodes")) {
    peak = std::max(peak, node.at("live_bytes").get<std::int64_t>());
  }
  EXPECT_EQ(peak, memory.at("peak_live_bytes").get<std::int64_t>());
  EXPECT_EQ(memory.at("nodes").at(memory.at("peak_node").get<std::size_t>()).at("live_bytes"),
            peak);
  EXPECT_EQ(sum_of(memory.at("alive_at_peak"), "bytes"), static_cast<double>(peak));
  EXPECT_LE(peak, memory.at("arena_bytes").get<std::int64_t>());
}

TEST_F(RunProfile, has_passes_that_take_no_longer_than_compiling) {
  run({"run.profile=true"});
  const nlohmann::json compile = json().at("compile");
  EXPECT_GT(compile.at("passes").size(), 5U);
  EXPECT_LE(sum_of(compile.at("passes"), "seconds") + compile.at("planning_seconds").get<double>() +
                compile.at("kernels_seconds").get<double>(),
            compile.at("seconds"));
}

TEST_F(RunProfile, is_one_page_that_names_the_layers_of_the_model) {
  run({"run.profile=true"});
  const std::string page = content_of(profiles() / "profile.html");
  EXPECT_EQ(report::page::what_is_malformed(page), "");
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, HasSubstr("initial_convolution"));
  EXPECT_THAT(page, HasSubstr("measured"));
  EXPECT_TRUE(std::filesystem::exists(profiles() / "timeline.json"));
}

TEST_F(RunProfile, of_accumulated_gradients_says_what_its_figures_are_of) {
  run({"run.profile=true", "mode.optimizer.gradient_accumulation=2"});
  EXPECT_EQ(json().at("step").at("batches_per_step"), 2);
  EXPECT_LE(sum_of(json().at("ops"), "seconds"), json().at("step").at("seconds"));
  EXPECT_THAT(content_of(profiles() / "profile.html"), HasSubstr("Gradients of 2 batches"));
}

}  // namespace
}  // namespace cosmic::train
