#include "run/run_lock.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::run {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

class RunLockTest : public testing::Test {
 protected:
  ScratchFolder folder_{"run_lock"};
  std::filesystem::path file_ = folder_ / RunLock::kFileName;
};

TEST_F(RunLockTest, is_held_by_one_at_a_time) {
  {
    const RunLock first(folder_.path());
    EXPECT_EQ(first.remark(), "");
    const std::string process = "process " + std::to_string(getpid());
    EXPECT_THAT(content_of(file_), HasSubstr(process));
    EXPECT_THAT([&] { RunLock second(folder_.path()); },
                ThrowsMessage<UserError>(AllOf(HasSubstr(folder_.path().string()),
                                               HasSubstr(process), HasSubstr("run.id"))));
    EXPECT_THAT(content_of(file_), HasSubstr(process));
  }
  EXPECT_THAT(folder_.names(), IsEmpty());
  EXPECT_EQ(RunLock(folder_.path()).remark(), "");
}

TEST_F(RunLockTest, is_taken_over_from_the_dead) {
  std::ofstream(file_) << "host far, process 7, since yesterday\n\x1b[2J";
  const RunLock lock(folder_.path());
  EXPECT_THAT(lock.remark(),
              AllOf(HasSubstr("(host far, process 7, since yesterday)"), HasSubstr("taken over")));
  EXPECT_THAT(content_of(file_), Not(HasSubstr("yesterday")));
}

TEST_F(RunLockTest, goes_on_where_there_are_no_locks_and_says_so) {
  for (const auto no_lock : {LockCall([](int) {
                               errno = ENOLCK;
                               return -1;
                             }),
                             LockCall([](int) {
                               errno = EOPNOTSUPP;
                               return -1;
                             })}) {
    const RunLock lock(folder_.path(), no_lock);
    EXPECT_THAT(lock.remark(), AllOf(HasSubstr("has no locks"), HasSubstr("would not be noticed")));
    EXPECT_THAT(folder_.names(), ElementsAre(RunLock::kFileName));
  }
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(RunLockTest, is_not_written_through_a_link) {
  std::ofstream(folder_ / "mine") << "mine";
  std::filesystem::create_symlink("mine", file_);
  EXPECT_THROW(RunLock lock(folder_.path()), DataError);
  EXPECT_EQ(content_of(folder_ / "mine"), "mine");
}

}  // namespace
}  // namespace cosmic::run
