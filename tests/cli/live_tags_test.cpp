// Validation events that are tagged with every new checkpoint of a run.
#include "cli/live_tags.hpp"

#include <gmock/gmock.h>

#include "cli/temporary_folder.hpp"
#include "commands/background_program.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::cli {
namespace {

using testing::ElementsAre;

class LiveTagsOfARun : public testing::Test {
 protected:
  LiveTagsOfARun() {
    write_random_events(folder_.path() / "train.h5", 4, 1);
    write_random_events(folder_.path() / "test.h5", 5, 2);
  }
  void train(const std::string& length) {
    KeptLog log;
    train::train(tiny_configuration(folder_.path(), config::Mode::train, {"run.length=" + length}),
                 "cpu", log.log());
  }
  std::filesystem::path run() const { return folder_.path() / "out"; }

  RunFolder folder_;
};

TEST_F(LiveTagsOfARun, are_there_for_every_new_checkpoint) {
  train("2");
  const TemporaryFolder temporary;
  const std::optional<std::filesystem::path> watched = watched_events(run(), 3, temporary.path());
  ASSERT_TRUE(watched);
  view::EventStore store({.files = {*watched}});
  EXPECT_EQ(store.size(), 3);
  EXPECT_TRUE(store.labelled());
  const LiveTags tags(run(), *watched, store);
  ASSERT_TRUE(comes_true([&] { return store.networks().size() == 1; }));
  train("4");
  ASSERT_TRUE(comes_true([&] { return store.networks().size() == 2; }));
  EXPECT_THAT(store.networks(), ElementsAre("model-2", "model-4"));
  view::ViewedEvent event;
  view::EventStore::Reader(store).read(2, event);
  EXPECT_EQ(event.networks.size(), 2U);
  EXPECT_NE(event.networks[0][0].tag.front(), view::kNoTag);
}

TEST_F(LiveTagsOfARun, are_of_the_events_that_the_detector_makes_for_its_validations) {
  const TemporaryFolder temporary;
  std::filesystem::create_directories(run());
  std::ofstream(run() / "config.yaml") << "data:\n  detector: true\n  seed: 5\nrun:\n  id: d\n";
  const std::optional<std::filesystem::path> watched = watched_events(run(), 1, temporary.path());
  ASSERT_TRUE(watched);
  EXPECT_EQ(view::EventStore({.files = {*watched}}).size(), 1);
}

TEST_F(LiveTagsOfARun, are_not_there_for_a_run_without_validation_events) {
  const TemporaryFolder temporary;
  EXPECT_FALSE(watched_events(run(), 3, temporary.path()));
}

TEST(TemporaryFolder, is_gone_at_the_end) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path / "file") << "x";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace cosmic::cli
