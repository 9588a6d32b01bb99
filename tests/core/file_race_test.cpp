// Processes that want the same name at the same moment. A program of its own, because it forks: no
// other test may have started threads.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "core/error.hpp"
#include "core/pending_file.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AnyOf;
using testing::ElementsAre;

constexpr int kRounds = 100;
constexpr int kRefused = 2;

/// Children that work when all of them are there.
class Racers {
 public:
  Racers() { EXPECT_EQ(pipe(gate_.data()), 0); }
  ~Racers() {
    close(gate_[0]);
    close(gate_[1]);
  }
  Racers(const Racers&) = delete;
  Racers& operator=(const Racers&) = delete;

  /// `prepare` returns what is done when the gate opens.
  template <class Prepare>
  void add(const Prepare& prepare) {
    const pid_t child = fork();
    if (child == 0) {
      close(gate_[1]);
      try {
        const auto work = prepare();
        char nothing = 0;
        while (read(gate_[0], &nothing, 1) < 0) {  // until the gate is closed for all
        }
        work();
        _exit(0);
      } catch (const UserError&) {
        _exit(kRefused);
      } catch (...) {
        _exit(1);
      }
    }
    children_.push_back(child);
  }

  /// The exit status of each, in order.
  std::vector<int> run() {
    close(gate_[1]);
    gate_[1] = -1;
    std::vector<int> statuses;
    for (const pid_t child : children_) {
      int status = 0;
      waitpid(child, &status, 0);
      statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    return statuses;
  }

 private:
  std::array<int, 2> gate_{};
  std::vector<pid_t> children_;
};

void write(PendingFile& file, const std::string& text) {
  file.append(std::as_bytes(std::span(text)));
}

/// How a file system can give a file a name that must be new.
enum class NewNames { rename, link, neither };

class Files : public FileOperations {
 public:
  explicit Files(NewNames ways) : ways_(ways) {}

 protected:
  int rename_without_replacing(const std::filesystem::path& from,
                               const std::filesystem::path& to) override {
    return ways_ == NewNames::rename ? FileOperations::rename_without_replacing(from, to)
                                     : refuse(EINVAL);
  }
  int link(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return ways_ == NewNames::link ? FileOperations::link(from, to) : refuse(EPERM);
  }

 private:
  static int refuse(int reason) {
    errno = reason;
    return -1;
  }

  NewNames ways_;
};

class FileRace : public testing::TestWithParam<NewNames> {
 protected:
  ScratchFolder folder_{"file_race"};
  std::filesystem::path path_ = folder_ / "file";
};

std::string name_of(const testing::TestParamInfo<NewNames>& test) {
  return test.param == NewNames::rename ? "rename"
         : test.param == NewNames::link ? "link"
                                        : "reservation";
}

INSTANTIATE_TEST_SUITE_P(By, FileRace,
                         testing::Values(NewNames::rename, NewNames::link, NewNames::neither),
                         name_of);

TEST_P(FileRace, for_one_output_is_won_by_exactly_one_process) {
  Files files(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    Racers racers;
    for (const std::string name : {"first", "second"}) {
      // Both get as far as a whole file: that the other is writing is not seen before the gate.
      racers.add([&, name] {
        return [&, name] {
          PendingFile file(path_, Existing::refuse, files);
          write(file, name);
          file.commit();
        };
      });
    }
    const std::vector<int> statuses = racers.run();
    ASSERT_THAT(statuses, AnyOf(ElementsAre(0, kRefused), ElementsAre(kRefused, 0))) << round;
    EXPECT_EQ(content_of(path_), statuses[0] == 0 ? "first" : "second");
    EXPECT_THAT(folder_.names(), ElementsAre("file"));
    std::filesystem::remove(path_);
  }
}

TEST_P(FileRace, for_the_last_moment_is_won_by_exactly_one_process) {
  Files files(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    // Written under other names and renamed at once, as if neither had seen the other.
    Racers racers;
    for (const std::string name : {"first", "second"}) {
      std::ofstream(folder_ / name) << name;
      racers.add([&, name] {
        return [&, name] {
          COSMIC_REQUIRE(UserError, files.rename_new(folder_ / name, path_) == 0, "refused");
        };
      });
    }
    const std::vector<int> statuses = racers.run();
    ASSERT_THAT(statuses, AnyOf(ElementsAre(0, kRefused), ElementsAre(kRefused, 0))) << round;
    EXPECT_EQ(content_of(path_), statuses[0] == 0 ? "first" : "second");
    for (const std::string& name : folder_.names()) {
      std::filesystem::remove(folder_ / name);
    }
  }
}

TEST(ManyWriters, who_may_replace_a_file_never_remove_each_others_unfinished_files) {
  const ScratchFolder folder("file_race");
  Racers racers;
  for (const std::string name : {"a", "b", "c", "d"}) {
    racers.add([&, name] {
      return [&, name] {
        for (int round = 0; round < kRounds; ++round) {
          PendingFile file(folder / "file", Existing::replace);
          write(file, name);
          file.commit();
        }
      };
    });
  }
  EXPECT_THAT(racers.run(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

/// A process that has begun a file and is killed before it is done.
void die_while_writing(const std::filesystem::path& path) {
  std::array<int, 2> begun{};
  ASSERT_EQ(pipe(begun.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const PendingFile file(path);
    [[maybe_unused]] const ssize_t told = ::write(begun[1], "x", 1);
    pause();
    _exit(0);
  }
  char nothing = 0;
  ASSERT_EQ(read(begun[0], &nothing, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(begun[0]);
  close(begun[1]);
}

TEST(KilledWriter, leaves_a_file_that_the_next_writer_of_the_name_removes) {
  const ScratchFolder folder("killed_writer");
  die_while_writing(folder / "file");
  ASSERT_EQ(folder.names().size(), 1U);
  PendingFile file(folder / "file");
  write(file, "text");
  file.commit();
  EXPECT_THAT(folder.names(), ElementsAre("file"));
  EXPECT_EQ(content_of(folder / "file"), "text");
}

TEST(ForkedChild, that_cleans_up_keeps_its_hands_off_the_files_of_its_parent) {
  const ScratchFolder folder("forked_child");
  const PendingFile file(folder / "file");
  const pid_t child = fork();
  if (child == 0) {
    remove_pending_files();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(file.temporary()));
}

}  // namespace
}  // namespace cosmic
