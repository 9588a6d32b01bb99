#include "view/run_follower.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "output/metrics_csv.hpp"
#include "output/tensorboard_writer.hpp"
#include "scratch_folder.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

void append(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

TEST(MetricsFollower, reads_rows_as_they_come) {
  const ScratchFolder folder("follow");
  const std::filesystem::path path = folder / "m.csv";
  MetricsFollower follower(path);
  follower.update();
  EXPECT_TRUE(follower.rows().empty());
  append(path, "step,loss\n0,2.5\n1,nan\n2,1.");
  follower.update();
  EXPECT_EQ(follower.columns(), (std::vector<std::string>{"step", "loss"}));
  ASSERT_EQ(follower.rows().size(), 2U);  // the third is not whole yet
  append(path, "25\n");
  follower.update();
  ASSERT_EQ(follower.rows().size(), 3U);
  EXPECT_EQ(follower.rows()[2][1], 1.25);
  EXPECT_EQ(follower.generation(), 0);
}

TEST(MetricsFollower, begins_again_when_a_resumed_run_drops_rows) {
  const ScratchFolder folder("follow");
  const std::filesystem::path path = folder / "train_metrics.csv";
  {
    output::MetricsCsv table(path);
    for (int step = 0; step < 10; ++step) {
      table.add(step, {{"loss", 5.0 - step}});
    }
  }
  MetricsFollower follower(path);
  follower.update();
  EXPECT_EQ(follower.rows().size(), 10U);
  output::MetricsCsv resumed(path, 4);
  for (int step = 4; step < 12; ++step) {
    resumed.add(step, {{"loss", 9.0}});
  }
  follower.update();
  EXPECT_GT(follower.generation(), 0);
  ASSERT_EQ(follower.rows().size(), 12U);
  EXPECT_EQ(follower.rows()[3][1], 2.0);
  EXPECT_EQ(follower.rows()[4][1], 9.0);
}

TEST(MetricsFollower, notices_a_file_that_was_cut_and_has_grown_to_its_old_length) {
  const ScratchFolder folder("follow");
  const std::filesystem::path path = folder / "m.csv";
  append(path, "step,loss\n0,2\n1,3\n");
  MetricsFollower follower(path);
  follower.update();
  std::filesystem::resize_file(path, std::string("step,loss\n0,2\n").size());
  append(path, "1,7\n2,8\n");
  follower.update();
  ASSERT_EQ(follower.rows().size(), 3U);
  EXPECT_EQ(follower.rows()[1][1], 7);
}

TEST(RunFollower, gives_what_was_added_since_it_was_asked) {
  const ScratchFolder folder("run");
  append(folder / "train_metrics.csv", "step,loss\n0,2\n1,1.5\n");
  RunFollower run(folder.path());
  const json first = json::parse(run.changes({}));
  EXPECT_EQ(first["train"]["rows"], json({{0, 2}, {1, 1.5}}));
  EXPECT_EQ(first["test"]["rows"], json::array());
  EXPECT_EQ(first["job"], nullptr);
  append(folder / "train_metrics.csv", "2,1.25\n");
  const json second = json::parse(run.changes({.generation = first["generation"], .train = 2}));
  EXPECT_EQ(second["train"]["from"], 2);
  EXPECT_EQ(second["train"]["rows"], json::array({json({2, 1.25})}));
}

TEST(RunFollower, finds_the_learning_rate_in_the_files_of_tensorboard) {
  const ScratchFolder folder("run");
  append(folder / "train_metrics.csv", "step,loss\n");
  output::TensorBoardWriter board(folder / "train");
  board.add_scalars(0, {{"loss", 2}, {"learning_rate", 0.5}});
  board.add_scalars(300, {{"loss", 1}, {"learning_rate", 0.25}});
  RunFollower run(folder.path());
  EXPECT_EQ(json::parse(run.changes({}))["learning_rate"], json({{0, 0.5}, {300, 0.25}}));
  board.add_scalars(301, {{"learning_rate", 0.125}});
  EXPECT_EQ(json::parse(run.changes({}))["learning_rate"].back(), json({301, 0.125}));
}

TEST(RunFollower, survives_files_that_are_not_what_they_should_be) {
  const ScratchFolder folder("run");
  append(folder / "train_metrics.csv", "step,loss\n0\n1,2,3\n,\n\n5,6\n");
  std::filesystem::create_directories(folder / "train");
  append(folder / "train/events.out.tfevents.1", std::string(100, '\xff'));
  append(folder / "train/events.out.tfevents.2",
         std::string("\x05\0\0\0\0\0\0\0????", 12) + "\x2a\xff\xff\xff\xff????");
  RunFollower run(folder.path());
  const json changes = json::parse(run.changes({}));
  EXPECT_EQ(changes["train"]["rows"].back(), json({5, 6}));
  EXPECT_EQ(changes["learning_rate"], json::array());
}

TEST(RunFollower, refuses_a_folder_that_is_none_of_a_run) {
  const ScratchFolder folder("run");
  EXPECT_THAT([&] { RunFollower(folder.path()); },
              ThrowsMessage<UserError>(HasSubstr("not the folder of a run")));
}

}  // namespace
}  // namespace cosmic::view
