#include "checkpoint/checkpoint_folder.hpp"

#include <gmock/gmock.h>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

class CheckpointFolderTest : public ScratchFolder {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      result.push_back(entry.path().filename().string());
    }
    return result;
  }
  std::string index() const { return read_file(folder_ / kIndexName); }

  void damage(const std::string& name) const {
    std::string bytes = read_file(folder_ / name);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_file(folder_ / name, bytes);
  }

  void save(const std::vector<std::int64_t>& steps) const {
    CheckpointFolder checkpoints(folder_);
    for (const std::int64_t step : steps) {
      EXPECT_THAT(checkpoints.save(some_checkpoint(step)), IsEmpty());
    }
  }
};

TEST_F(CheckpointFolderTest, keeps_the_references_index_and_the_newest_five) {
  save({4, 6, 8, 10, 12, 14});
  EXPECT_EQ(index(),
            "latest: model-14.safetensors\n"
            "14: model-14.safetensors\n"
            "12: model-12.safetensors\n"
            "10: model-10.safetensors\n"
            "8: model-8.safetensors\n"
            "6: model-6.safetensors\n");
  EXPECT_THAT(names(), UnorderedElementsAre("checkpoint", "model-14.safetensors",
                                            "model-12.safetensors", "model-10.safetensors",
                                            "model-8.safetensors", "model-6.safetensors"));
}

TEST_F(CheckpointFolderTest, keeps_as_many_as_asked) {
  CheckpointFolder checkpoints(folder_, 1);
  checkpoints.save(some_checkpoint(1));
  checkpoints.save(some_checkpoint(2));
  EXPECT_THAT(names(), UnorderedElementsAre("checkpoint", "model-2.safetensors"));
  EXPECT_THAT([&] { CheckpointFolder(folder_, 0); },
              ThrowsMessage<UserError>(HasSubstr("to keep is 0")));
}

TEST_F(CheckpointFolderTest, has_a_step_that_is_saved_again_once) {
  save({1, 2, 2});
  EXPECT_EQ(index(),
            "latest: model-2.safetensors\n2: model-2.safetensors\n1: model-1.safetensors\n");
}

TEST_F(CheckpointFolderTest, does_not_mind_a_file_that_somebody_removed) {
  CheckpointFolder checkpoints(folder_, 2);
  checkpoints.save(some_checkpoint(1));
  checkpoints.save(some_checkpoint(2));
  std::filesystem::remove(checkpoints.file_of(1));
  EXPECT_THAT(checkpoints.save(some_checkpoint(3)), IsEmpty());
  EXPECT_EQ(index(),
            "latest: model-3.safetensors\n3: model-3.safetensors\n2: model-2.safetensors\n");
}

TEST_F(CheckpointFolderTest, is_made_with_its_parents) {
  const std::filesystem::path deep = folder_ / "run" / "checkpoints";
  CheckpointFolder(deep).save(some_checkpoint(1));
  EXPECT_EQ(load_newest(deep).checkpoint.step, 1);
  write_file(folder_ / "file", "");
  EXPECT_THAT([&] { CheckpointFolder(folder_ / "file"); },
              ThrowsMessage<DataError>(HasSubstr("cannot create")));
}

TEST_F(CheckpointFolderTest, loses_the_unfinished_files_of_a_killed_process) {
  save({1});
  write_file(folder_ / ".model-2.safetensors.partial-1234-5", "half");
  write_file(folder_ / ".checkpoint.partial-1234", "half");
  write_file(folder_ / ".notes.partial-1234", "somebody else's");
  CheckpointFolder checkpoints(folder_);
  EXPECT_THAT(names(),
              UnorderedElementsAre("checkpoint", "model-1.safetensors", ".notes.partial-1234"));
}

TEST_F(CheckpointFolderTest, gives_the_newest_by_every_way_of_naming_it) {
  save({9, 10});
  for (const std::filesystem::path& place :
       {folder_, folder_ / "", folder_ / "checkpoint", folder_ / "model-10.safetensors"}) {
    const LoadedCheckpoint loaded = load_newest(place);
    EXPECT_TRUE(same(loaded.checkpoint, some_checkpoint(10))) << place;
    EXPECT_EQ(loaded.file.filename(), "model-10.safetensors");
    EXPECT_THAT(loaded.warnings, IsEmpty());
  }
  EXPECT_EQ(load_newest(folder_ / "model-9.safetensors").checkpoint.step, 9);
}

TEST_F(CheckpointFolderTest, falls_back_from_a_damaged_newest_and_says_so) {
  save({1, 2, 3});
  damage("model-3.safetensors");
  write_file(folder_ / "model-2.safetensors", "");
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_TRUE(same(loaded.checkpoint, some_checkpoint(1)));
  ASSERT_EQ(loaded.warnings.size(), 2U);
  EXPECT_EQ(loaded.warnings[0].file.filename(), "model-3.safetensors");
  EXPECT_THAT(loaded.warnings[0].reason, AllOf(HasSubstr("checksum"), Not(HasSubstr("model-3"))));
  EXPECT_EQ(loaded.warnings[1].file.filename(), "model-2.safetensors");
}

/// SPEC 10.3: the reference logs a warning and trains from scratch.
TEST_F(CheckpointFolderTest, in_which_all_are_damaged_is_an_error_with_all_reasons) {
  save({1, 2});
  damage("model-1.safetensors");
  std::filesystem::remove(folder_ / "model-2.safetensors");
  EXPECT_THAT([&] { load_newest(folder_); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("none of the 2 checkpoints"),
                                             HasSubstr("model-1.safetensors: has the checksum"),
                                             HasSubstr("model-2.safetensors: cannot be read"))));
}

/// SPEC 15, quirks 23 and 24: the reference crashes, or infers with random weights.
TEST_F(CheckpointFolderTest, without_checkpoints_is_an_error) {
  for (const std::filesystem::path& place :
       {folder_, folder_ / "", folder_ / "missing", folder_ / "missing" / ""}) {
    EXPECT_THAT([&] { load_newest(place); },
                ThrowsMessage<DataError>(HasSubstr("no checkpoint found")))
        << place;
    std::vector<Warning> warnings;
    EXPECT_THAT(find_checkpoints(place, warnings), IsEmpty());
  }
}

TEST_F(CheckpointFolderTest, without_an_index_is_read_by_the_names_of_its_files) {
  save({9, 10});
  std::filesystem::remove(folder_ / kIndexName);
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 10);
}

TEST_F(CheckpointFolderTest, of_a_process_killed_before_the_index_gives_the_newer_file) {
  save({1, 2});
  save_checkpoint(folder_ / "model-3.safetensors", some_checkpoint(3));
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 3);
}

TEST_F(CheckpointFolderTest, whose_index_was_edited_goes_back) {
  save({1, 2, 3});
  std::string edited = index();
  edited.replace(edited.find("model-3"), 7, "model-1");
  write_file(folder_ / kIndexName, edited);
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 1);
  save({2});  // trained on from there
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 2);
}

TEST_F(CheckpointFolderTest, whose_index_lost_its_newer_lines_goes_back_too) {
  save({1, 2, 3});
  write_file(folder_ / kIndexName, "latest: model-1.safetensors\n1: model-1.safetensors\n");
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 1);
}

TEST_F(CheckpointFolderTest, that_was_rewound_gives_the_older_checkpoint_even_after_a_kill) {
  save({1, 2, 3});
  save_checkpoint(folder_ / "model-4.safetensors", some_checkpoint(4));  // killed before the index
  EXPECT_EQ(rewind(folder_, 2), folder_ / "model-2.safetensors");
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 2);
  EXPECT_EQ(load_newest(folder_).latest_step, 4);
  EXPECT_THAT(index(), HasSubstr("4: model-4.safetensors\n"));
  EXPECT_THAT([&] { rewind(folder_, 7); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("no checkpoint of step 7"), HasSubstr("it has 4, 3, 2, 1"))));
}

TEST_F(CheckpointFolderTest, that_was_rewound_keeps_what_is_new_and_gives_up_what_was_later) {
  save({2, 4, 6, 8, 10});
  rewind(folder_, 2);
  save({3});
  EXPECT_EQ(index(),
            "latest: model-3.safetensors\n3: model-3.safetensors\n10: model-10.safetensors\n"
            "8: model-8.safetensors\n6: model-6.safetensors\n2: model-2.safetensors\n");
  save({5, 7, 9});
  EXPECT_EQ(load_newest(folder_).checkpoint.step, 9);
  EXPECT_THAT(names(), UnorderedElementsAre("checkpoint", "model-9.safetensors",
                                            "model-7.safetensors", "model-5.safetensors",
                                            "model-3.safetensors", "model-2.safetensors"));
}

TEST_F(CheckpointFolderTest, says_that_a_checkpoint_was_copied_over_another) {
  save({4, 10});
  std::filesystem::copy_file(folder_ / "model-4.safetensors", folder_ / "model-10.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_EQ(loaded.checkpoint.step, 4);
  EXPECT_EQ(loaded.latest_step, 10);
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(loaded.warnings[0].reason,
              AllOf(HasSubstr("step 4"), HasSubstr("its name says 10 and the index says 10"),
                    HasSubstr("copied over")));
  EXPECT_THAT([&] { rewind(folder_, 10); },
              ThrowsMessage<DataError>(HasSubstr("is the checkpoint of step 4")));
  EXPECT_THAT(load_newest(folder_ / "model-10.safetensors").warnings.at(0).reason,
              HasSubstr("its name says 10"));
}

TEST_F(CheckpointFolderTest, says_that_its_index_gives_another_step) {
  save({4});
  write_file(folder_ / kIndexName, "latest: model-4.safetensors\n6: model-4.safetensors\n");
  EXPECT_THAT(load_newest(folder_).warnings.at(0).reason,
              AllOf(HasSubstr("step 4"), HasSubstr("the index says 6")));
}

TEST_F(CheckpointFolderTest, lists_what_a_kill_left_out_of_the_index_and_says_so) {
  save({1, 2});
  save_checkpoint(folder_ / "model-3.safetensors", some_checkpoint(3));
  const std::vector<Warning> done = CheckpointFolder(folder_).settle(3);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].file.filename(), "model-3.safetensors");
  EXPECT_THAT(done[0].reason, AllOf(HasSubstr("not in the index"), HasSubstr("listed now")));
  EXPECT_EQ(index(),
            "latest: model-3.safetensors\n3: model-3.safetensors\n2: model-2.safetensors\n"
            "1: model-1.safetensors\n");
  EXPECT_THAT(CheckpointFolder(folder_).settle(3), IsEmpty());
}

TEST_F(CheckpointFolderTest, removes_what_a_kill_left_beyond_the_number_to_keep_and_says_so) {
  save({1, 2, 3});
  write_file(folder_ / kIndexName,
             "latest: model-3.safetensors\n3: model-3.safetensors\n2: model-2.safetensors\n");
  const std::vector<Warning> done = CheckpointFolder(folder_, 2).settle(3);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].file.filename(), "model-1.safetensors");
  EXPECT_THAT(done[0].reason, AllOf(HasSubstr("beyond the 2"), HasSubstr("removed")));
  EXPECT_THAT(names(),
              UnorderedElementsAre("checkpoint", "model-3.safetensors", "model-2.safetensors"));
}

TEST_F(CheckpointFolderTest, with_the_references_index_lines_twice_is_read) {
  save({1, 2});
  write_file(folder_ / kIndexName,
             "latest: model-2.safetensors\r\n2: model-2.safetensors\n2: model-2.safetensors\n"
             "1: model-1.safetensors\n\n");
  EXPECT_THAT(load_newest(folder_).warnings, IsEmpty());
  save({3});
  EXPECT_EQ(index(),
            "latest: model-3.safetensors\n3: model-3.safetensors\n2: model-2.safetensors\n"
            "1: model-1.safetensors\n");
}

TEST_F(CheckpointFolderTest, whose_index_is_nonsense_is_told_and_read_anyway) {
  save({1});
  write_file(folder_ / kIndexName,
             "latest: ../../elsewhere.safetensors\nnonsense\nx: y\n1: \n-1: model-1.safetensors\n");
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_EQ(loaded.checkpoint.step, 1);
  ASSERT_EQ(loaded.warnings.size(), 5U);
  EXPECT_THAT(loaded.warnings[0].reason,
              AllOf(HasSubstr("line 1"), HasSubstr("does not name a file in its folder")));
  EXPECT_THAT(loaded.warnings[1].reason, HasSubstr("has no ':'"));
  write_file(folder_ / kIndexName, std::string(2 << 20, 'x'));
  EXPECT_THAT(load_newest(folder_).warnings.at(0).reason, HasSubstr("2097152 bytes"));
}

TEST_F(CheckpointFolderTest, names_steps_as_the_reference_does) {
  EXPECT_EQ(step_in_name("model-14.safetensors"), 14);
  EXPECT_EQ(step_in_name("model-5.ckpt"), 5);
  for (const char* other : {"model-.ckpt", "model--1.ckpt", "model-best.safetensors", "model-5",
                            "model-5.safetensors.old", "my-model-5.ckpt", "model-1e3.ckpt",
                            "model-99999999999999999999.ckpt"}) {
    EXPECT_EQ(step_in_name(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace cosmic::checkpoint
