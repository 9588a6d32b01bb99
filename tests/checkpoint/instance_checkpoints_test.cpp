#include "checkpoint/instance_checkpoints.hpp"

#include <gmock/gmock.h>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"
#include "core/error.hpp"
#include "core/pending_file.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class InstanceCheckpointsTest : public ScratchFolder {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      result.push_back(entry.path().filename().string());
    }
    return result;
  }

  void save(int instance, const std::vector<std::int64_t>& steps, int keep = 2) const {
    InstanceCheckpoints checkpoints(folder_, instance, keep);
    for (const std::int64_t step : steps) {
      EXPECT_THAT(checkpoints.save(some_checkpoint(step)), IsEmpty());
    }
  }
};

TEST(InstanceNames, are_told_from_those_of_runs) {
  const auto name = instance_in_name("model-14-3.ckpt");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->step, 14);
  EXPECT_EQ(name->instance, 3);
  for (const char* other : {"model-14.ckpt", "model-14-.ckpt", "model--3.ckpt", "model-14-3-1.ckpt",
                            "model-14-x.safetensors", "checkpoint"}) {
    EXPECT_FALSE(instance_in_name(other).has_value()) << other;
  }
  EXPECT_FALSE(step_in_name("model-14-3.safetensors").has_value());
}

TEST_F(InstanceCheckpointsTest, keep_the_newest_of_each_instance) {
  save(0, {2, 4, 6});
  save(1, {2, 4});
  EXPECT_THAT(names(), UnorderedElementsAre("model-4-0.safetensors", "model-6-0.safetensors",
                                            "model-2-1.safetensors", "model-4-1.safetensors"));
  EXPECT_TRUE(same(load_checkpoint(folder_ / "model-6-0.safetensors"), some_checkpoint(6)));
}

TEST_F(InstanceCheckpointsTest, of_steps_that_the_run_has_gone_back_from_are_removed_first) {
  save(0, {2, 8, 9}, 3);
  save(0, {3}, 3);
  EXPECT_THAT(names(), UnorderedElementsAre("model-2-0.safetensors", "model-3-0.safetensors",
                                            "model-9-0.safetensors"));
}

TEST_F(InstanceCheckpointsTest, leave_the_runs_own_files_and_those_of_the_reference_alone) {
  CheckpointFolder(folder_).save(some_checkpoint(1));
  write_file(folder_ / "model-1-0.ckpt", "of the reference");
  save(0, {2, 4, 6});
  EXPECT_THAT(names(), UnorderedElementsAre("checkpoint", "model-1.safetensors", "model-1-0.ckpt",
                                            "model-4-0.safetensors", "model-6-0.safetensors"));
  std::vector<Warning> warnings;
  EXPECT_THAT(find_checkpoints(folder_, warnings), ElementsAre(folder_ / "model-1.safetensors"));
}

TEST_F(InstanceCheckpointsTest, serve_where_a_folder_has_no_others) {
  save(1, {2, 4});
  save(0, {2, 4});
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_EQ(loaded.file, folder_ / "model-4-0.safetensors");
  EXPECT_EQ(loaded.latest_step, 4);
  write_file(folder_ / "model-4-0.safetensors", "damaged");
  const LoadedCheckpoint other = load_newest(folder_);
  EXPECT_EQ(other.file, folder_ / "model-4-1.safetensors");
  EXPECT_EQ(other.passed_over, 1U);
}

TEST_F(InstanceCheckpointsTest, that_are_copied_over_another_are_found_out) {
  save(0, {2, 4});
  std::filesystem::copy_file(folder_ / "model-2-0.safetensors", folder_ / "model-4-0.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  const LoadedCheckpoint loaded = load_newest(folder_ / "model-4-0.safetensors");
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(loaded.warnings.front().reason,
              HasSubstr("is the checkpoint of step 2, although its name says 4"));
}

TEST_F(InstanceCheckpointsTest,
       that_were_not_finished_are_removed_by_the_instance_that_wrote_them) {
  std::vector<std::string> left;
  for (const char* name : {"model-4-0.safetensors", "model-4-1.safetensors"}) {
    const PendingFile pending(folder_ / name, Existing::replace);
    left.push_back(pending.temporary().filename().string());
    std::filesystem::copy_file(pending.temporary(), folder_ / (left.back() + "1"));
  }
  EXPECT_THAT(names(), UnorderedElementsAre(left[0] + "1", left[1] + "1"));
  const InstanceCheckpoints of_first(folder_, 0, 1);
  EXPECT_THAT(names(), ElementsAre(left[1] + "1"));
}

TEST_F(InstanceCheckpointsTest, need_a_folder) {
  write_file(folder_ / "file", "");
  EXPECT_THAT([&] { InstanceCheckpoints(folder_ / "file", 0, 1); },
              testing::ThrowsMessage<UserError>(HasSubstr("cannot be used as a folder")));
}

}  // namespace
}  // namespace cosmic::checkpoint
