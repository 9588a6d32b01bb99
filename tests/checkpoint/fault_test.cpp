// Checkpoints survive a failing disk, a full one, a kill and a power cut at any operation.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/faulty_files.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "checkpoint/some_checkpoint.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::IsEmpty;

class FaultDuringSave : public ScratchFolder, public testing::WithParamInterface<Fault> {
 protected:
  static constexpr int kKeep = 2;  // so that saving removes one

  /// A folder with checkpoints 1 and 2.
  void prepare() const {
    std::filesystem::remove_all(folder_);
    CheckpointFolder checkpoints(folder_, kKeep);
    checkpoints.save(some_checkpoint(1));
    checkpoints.save(some_checkpoint(2));
  }

  /// Saves checkpoint 3 on a disk that fails. Says whether save() returned.
  bool save_with(FaultyFiles& files) const {
    try {
      CheckpointFolder(folder_, kKeep, files).save(some_checkpoint(3));
      return true;
    } catch (const DataError&) {
      return false;
    } catch (const Stopped&) {
      return false;
    }
  }

  bool has_unfinished_files() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().filename().string().starts_with(".")) {
        return true;
      }
    }
    return false;
  }
};

TEST_P(FaultDuringSave, at_any_operation_leaves_the_newest_good_checkpoint) {
  const Fault fault = GetParam();
  std::size_t at = 0;
  for (;; ++at) {
    SCOPED_TRACE("operation " + std::to_string(at));
    prepare();
    FaultyFiles files(fault, at);
    const bool returned = save_with(files);
    const LoadedCheckpoint loaded = load_newest(folder_);
    EXPECT_THAT(loaded.warnings, IsEmpty()) << "half a checkpoint was shown";
    EXPECT_GE(loaded.checkpoint.step, returned ? 3 : 2);
    EXPECT_TRUE(same(loaded.checkpoint, some_checkpoint(loaded.checkpoint.step)));

    EXPECT_THAT(CheckpointFolder(folder_, kKeep).save(some_checkpoint(4)), IsEmpty());
    EXPECT_EQ(load_newest(folder_).checkpoint.step, 4);
    EXPECT_FALSE(has_unfinished_files());
    if (!files.happened()) {
      break;
    }
  }
  // Create, three writes or more, sync, close, rename and sync of the folder, for a checkpoint and
  // an index, and one removal.
  EXPECT_GE(at, 15U);
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultDuringSave,
                         testing::Values(Fault::io_error, Fault::disk_full, Fault::short_writes,
                                         Fault::kill, Fault::power_cut_names_lost,
                                         Fault::power_cut_names_kept),
                         [](const auto& chosen) {
                           switch (chosen.param) {
                             case Fault::io_error:
                               return "io_error";
                             case Fault::disk_full:
                               return "disk_full";
                             case Fault::short_writes:
                               return "short_writes";
                             case Fault::kill:
                               return "kill";
                             case Fault::power_cut_names_lost:
                               return "power_cut_names_lost";
                             case Fault::power_cut_names_kept:
                               return "power_cut_names_kept";
                           }
                           return "";
                         });

using FaultTest = ScratchFolder;

TEST_F(FaultTest, of_the_disk_is_an_error_that_names_file_and_reason) {
  FaultyFiles full(Fault::disk_full, 2);
  EXPECT_THAT([&] { CheckpointFolder(folder_, 5, full).save(some_checkpoint(1)); },
              testing::ThrowsMessage<DataError>(
                  testing::AllOf(testing::HasSubstr("model-1.safetensors: cannot be written"),
                                 testing::HasSubstr("No space left on device"))));
}

TEST_F(FaultTest, of_the_power_supply_does_not_lose_what_save_has_returned_for) {
  FaultyFiles files(Fault::power_cut_names_lost, SIZE_MAX);
  CheckpointFolder checkpoints(folder_, 2, files);
  for (std::int64_t step = 1; step <= 4; ++step) {
    checkpoints.save(some_checkpoint(step));
  }
  files.lose_what_was_not_synced();
  const LoadedCheckpoint loaded = load_newest(folder_);
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_TRUE(same(loaded.checkpoint, some_checkpoint(4)));
}

/// Real processes, really killed. What save() has returned for is there; what is there is whole.
TEST_F(FaultTest, of_a_hundred_killed_processes_none_loses_a_checkpoint) {
  constexpr int kKills = 100;
  constexpr int kKeep = 3;
  constexpr std::int64_t kElements = 20'000;  // some 240 kB, so that writing takes a while
  void* page = mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* saved = new (page) std::atomic<std::int64_t>(0);
  RandomStream random(1, "kills");
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    const std::int64_t before = *saved;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      CheckpointFolder checkpoints(folder_, kKeep);
      for (std::int64_t step = before + 1;; ++step) {
        checkpoints.save(some_checkpoint(step, kElements));
        *saved = step;
      }
    }
    while (*saved == before && waitpid(child, nullptr, WNOHANG) == 0) {
      usleep(100);
    }
    usleep(static_cast<useconds_t>(random.uniform(0, 20'000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself";
    const LoadedCheckpoint loaded = load_newest(folder_);
    EXPECT_THAT(loaded.warnings, IsEmpty());
    EXPECT_GE(loaded.checkpoint.step, *saved);
    EXPECT_TRUE(same(loaded.checkpoint, some_checkpoint(loaded.checkpoint.step, kElements)));
  }
  munmap(page, sizeof(std::atomic<std::int64_t>));
}

}  // namespace
}  // namespace cosmic::checkpoint
