#include "monitor/job_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::monitor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr uid_t kSomeoneElse = 65'534;

mode_t permissions_of(const std::filesystem::path& path) {
  struct stat found {};
  stat(path.c_str(), &found);
  return found.st_mode & 07777;
}

class JobFolderTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return scratch_ / "jobs"; }

  ScratchFolder scratch_{"job_folder"};
};

TEST_F(JobFolderTest, is_made_for_its_owner_alone) {
  const JobFolder folder(path());
  EXPECT_EQ(permissions_of(path()), 0700U);
  EXPECT_TRUE(folder.write("a", ".a", "text"));
  EXPECT_EQ(permissions_of(path() / "a"), 0600U);
}

TEST_F(JobFolderTest, shows_a_text_whole_and_leaves_nothing_beside_it) {
  const JobFolder folder(path());
  EXPECT_TRUE(folder.write("a", ".a", "long text"));
  EXPECT_TRUE(folder.write("a", ".a", "text"));
  EXPECT_THAT(folder.names(), ElementsAre("a"));
  EXPECT_EQ(folder.read("a", 100), "text");
  folder.remove("a");
  EXPECT_EQ(folder.read("a", 100), std::nullopt);
  EXPECT_THAT(folder.names(), ElementsAre());
}

TEST_F(JobFolderTest, of_another_user_is_refused) {
  std::filesystem::path foreign = "/";  // of the system, unless the system is us
  if (geteuid() == 0) {
    foreign = path();
    std::filesystem::create_directory(foreign);
    ASSERT_EQ(chown(foreign.c_str(), kSomeoneElse, kSomeoneElse), 0);
  }
  EXPECT_THAT(
      [&] { JobFolder folder(foreign); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("belongs to user"), HasSubstr("XDG_RUNTIME_DIR"))));
}

TEST_F(JobFolderTest, that_others_may_enter_is_refused) {
  std::filesystem::create_directory(path());
  ASSERT_EQ(chmod(path().c_str(), 0755), 0);
  EXPECT_THAT([&] { JobFolder folder(path()); }, ThrowsMessage<UserError>(HasSubstr("chmod 700")));
}

TEST_F(JobFolderTest, that_is_a_link_is_refused) {
  const std::filesystem::path real = scratch_ / "real";
  { const JobFolder folder(real); }
  std::filesystem::create_symlink(real, path());
  EXPECT_THAT([&] { JobFolder folder(path()); },
              ThrowsMessage<UserError>(HasSubstr("it is a file or a link")));
}

TEST_F(JobFolderTest, does_not_write_or_read_through_links) {
  const JobFolder folder(path());
  const std::filesystem::path victim = scratch_ / "victim";
  std::ofstream(victim) << "kept";
  std::filesystem::create_symlink(victim, path() / ".a");
  EXPECT_FALSE(folder.write("a", ".a", "text"));
  std::filesystem::create_symlink(victim, path() / "b");
  EXPECT_THROW(folder.read("b", 100), DataError);
  EXPECT_EQ(content_of(victim), "kept");
}

TEST_F(JobFolderTest, does_not_wait_for_what_is_no_file) {
  const JobFolder folder(path());
  ASSERT_EQ(mkfifo((path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { folder.read("pipe", 100); }, ThrowsMessage<DataError>(HasSubstr("not a file")));
}

TEST_F(JobFolderTest, does_not_read_a_file_larger_than_asked_for) {
  const JobFolder folder(path());
  folder.write("a", ".a", std::string(101, 'x'));
  EXPECT_THAT([&] { folder.read("a", 100); }, ThrowsMessage<DataError>(HasSubstr("101 bytes")));
}

TEST_F(JobFolderTest, is_in_the_runtime_folder_of_the_user_and_of_nobody_else) {
  setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1);
  EXPECT_EQ(default_job_folder(), scratch_ / "cosmictagger");
  const std::filesystem::path elsewhere =
      std::filesystem::temp_directory_path() / ("cosmictagger-" + std::to_string(geteuid()));
  setenv("XDG_RUNTIME_DIR", (scratch_ / "missing").c_str(), 1);
  EXPECT_EQ(default_job_folder(), elsewhere);
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(default_job_folder(), elsewhere);
}

}  // namespace
}  // namespace cosmic::monitor
