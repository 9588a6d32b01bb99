#include "core/pending_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>

#include "core/error.hpp"
#include "core/output_rule.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class PendingFileTest : public testing::Test {
 protected:
  static void write(const PendingFile& file, const std::string& text) {
    std::ofstream(file.temporary()) << text;
  }
  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "file";
};

TEST_F(PendingFileTest, appears_when_committed) {
  PendingFile file(path_);
  write(file, "text");
  EXPECT_EQ(file.bytes(), 4U);
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.commit();
  EXPECT_THAT(folder_.names(), ElementsAre("file"));
  EXPECT_EQ(content(), "text");
}

TEST_F(PendingFileTest, takes_bytes_piece_by_piece) {
  PendingFile file(path_);
  for (const std::string text : {"one ", "", "two"}) {
    file.append(std::as_bytes(std::span(text)));
  }
  file.commit();
  EXPECT_EQ(content(), "one two");
}

TEST_F(PendingFileTest, tells_what_an_unfinished_file_would_have_become) {
  const PendingFile file(path_);
  EXPECT_EQ(PendingFile::final_name(file.temporary().filename().string()), "file");
  EXPECT_EQ(PendingFile::final_name("file"), std::nullopt);
  EXPECT_EQ(PendingFile::final_name(".file"), std::nullopt);
}

TEST_F(PendingFileTest, is_removed_when_it_is_not_committed) {
  { write(PendingFile(path_), "text"); }
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(PendingFileTest, has_a_temporary_name_that_nobody_can_guess) {
  const PendingFile first(path_, Existing::replace);
  const PendingFile second(path_, Existing::replace);
  const auto random_part = [](const PendingFile& file) {
    const std::string name = file.temporary().filename().string();
    return name.substr(name.rfind('-') + 1);
  };
  EXPECT_THAT(random_part(first), testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_NE(random_part(first), random_part(second));
}

TEST_F(PendingFileTest, has_the_permissions_that_the_user_gives_to_new_files) {
  const mode_t before = umask(027);
  PendingFile file(path_);
  umask(before);
  file.commit();
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
}

TEST_F(PendingFileTest, is_refused_while_another_writes_the_name) {
  const PendingFile first(path_);
  EXPECT_THAT([&] { PendingFile second(path_); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("file: is being written by another"))));
  EXPECT_TRUE(std::filesystem::exists(first.temporary()));
}

TEST_F(PendingFileTest, keeps_what_came_while_it_was_written) {
  PendingFile file(path_);
  write(file, "late");
  std::ofstream(path_) << "early";
  EXPECT_THAT([&] { file.commit(); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("exists now"), HasSubstr("--overwrite"))));
  EXPECT_EQ(content(), "early");
}

TEST_F(PendingFileTest, removes_what_dead_processes_left_of_the_same_name) {
  std::ofstream(folder_ / ".file.partial-0123456789abcdef") << "half";
  std::ofstream(folder_ / ".file.partial-4711") << "half, of an earlier version";
  std::ofstream(folder_ / ".other.partial-0123456789abcdef") << "of another name";
  PendingFile(path_, Existing::replace).commit();
  EXPECT_THAT(folder_.names(), ElementsAre(".other.partial-0123456789abcdef", "file"));
  remove_abandoned_files(folder_.path());
  EXPECT_THAT(folder_.names(), ElementsAre("file"));
}

TEST_F(PendingFileTest, is_refused_and_told_of_leftovers_whose_writer_may_live) {
  const std::filesystem::path left = folder_ / ".file.partial-0123456789abcdef";
  std::filesystem::create_directory(left);  // which cannot be locked
  EXPECT_THAT([&] { PendingFile file(path_); },
              ThrowsMessage<UserError>(AllOf(HasSubstr(left.string()), HasSubstr("unfinished"),
                                             HasSubstr("remove it if none is"))));
  PendingFile(path_, Existing::replace).commit();
  EXPECT_THAT(folder_.names(), ElementsAre(left.filename().string(), "file"));
}

TEST_F(PendingFileTest, is_not_removed_by_others_while_it_is_written) {
  PendingFile file(path_, Existing::replace);
  remove_abandoned_files(folder_.path());
  PendingFile(path_, Existing::replace).commit();
  write(file, "text");
  file.commit();
  EXPECT_EQ(content(), "text");
}

TEST_F(PendingFileTest, is_removed_by_whoever_ends_the_process) {
  const PendingFile file(path_);
  remove_pending_files();
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(PendingFileTest, two_of_one_name_do_not_mix) {
  PendingFile first(path_, Existing::replace);
  PendingFile second(path_, Existing::replace);
  write(first, "first");
  write(second, "second");
  first.commit();
  EXPECT_EQ(content(), "first");
  second.commit();
  EXPECT_EQ(content(), "second");
}

TEST_F(PendingFileTest, keeps_what_exists_unless_asked) {
  std::ofstream(path_) << "old";
  EXPECT_THAT([&] { PendingFile file(path_); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("file"), HasSubstr("already exists"))));
  PendingFile file(path_, Existing::replace);
  write(file, "new");
  EXPECT_EQ(content(), "old");
  file.commit();
  EXPECT_EQ(content(), "new");
}

TEST_F(PendingFileTest, does_not_write_through_a_dangling_link) {
  std::filesystem::create_symlink("elsewhere", path_);
  EXPECT_THROW(PendingFile file(path_), UserError);
}

TEST_F(PendingFileTest, says_why_a_folder_cannot_be_written_to) {
  EXPECT_THAT([&] { PendingFile file(folder_ / "missing" / "file"); },
              ThrowsMessage<DataError>(HasSubstr("No such file or directory")));
  EXPECT_THAT([&] { PendingFile file(folder_.path(), Existing::replace); },
              ThrowsMessage<UserError>(HasSubstr("is a folder")));
}

/// A file system without locks, as NFS without its daemon is.
class WithoutLocks : public FileOperations {
 public:
  int lock(int) override {
    errno = ENOLCK;
    return -1;
  }
};

TEST_F(PendingFileTest, needs_no_locks_to_be_written) {
  WithoutLocks files;
  PendingFile file(path_, Existing::refuse, files);
  write(file, "text");
  file.commit();
  EXPECT_EQ(content(), "text");
}

class OutputRuleTest : public testing::Test {
 protected:
  OutputRuleTest() { std::ofstream(input_) << "input"; }

  void expect_refused(const std::filesystem::path& path, const std::string& because) const {
    for (const Existing existing : {Existing::refuse, Existing::replace}) {
      EXPECT_THAT(
          [&] {
            require_output(path, {existing, {folder_ / "missing", input_}});
          },
          ThrowsMessage<UserError>(AllOf(HasSubstr(path.string()), HasSubstr(because))));
    }
    EXPECT_THAT([&] { require_appendable(path, {.inputs = {input_}}); },
                ThrowsMessage<UserError>(HasSubstr(because)));
  }

  ScratchFolder folder_;
  std::filesystem::path input_ = folder_ / "input";
};

TEST_F(OutputRuleTest, never_writes_an_input_whatever_name_it_goes_by) {
  expect_refused(input_, "is the same file as " + input_.string());
  expect_refused(folder_ / "../" / folder_.path().filename() / "input", "is the same file as");
  std::filesystem::create_hard_link(input_, folder_ / "second name");
  expect_refused(folder_ / "second name", "is the same file as " + input_.string());
}

TEST_F(OutputRuleTest, never_writes_through_a_link_and_says_where_it_leads) {
  for (const char* const target : {"input", "nowhere", "/dev/null"}) {
    std::filesystem::create_symlink(target, folder_ / "link");
    expect_refused(folder_ / "link", "is a link to '" + std::string(target) + "'");
    std::filesystem::remove(folder_ / "link");
  }
}

TEST_F(OutputRuleTest, never_replaces_what_is_not_a_file) {
  expect_refused(folder_.path(), "is a folder");
  expect_refused("/dev/null", "is a device");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused(folder_ / "pipe", "is a device, a pipe");
}

TEST_F(OutputRuleTest, replaces_other_files_if_asked_to) {
  std::ofstream(folder_ / "output") << "old";
  const std::filesystem::path output = folder_ / "output";
  EXPECT_THAT(
      [&] { require_output(output, {.inputs = {input_}}); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("already exists"), HasSubstr("--overwrite"))));
  EXPECT_NO_THROW(require_output(output, {Existing::replace, {input_}}));
  EXPECT_NO_THROW(require_appendable(output, {.inputs = {input_}}));
  EXPECT_NO_THROW(require_output(folder_ / "new", {.inputs = {input_}}));
}

TEST_F(OutputRuleTest, says_that_another_is_writing_even_if_files_may_be_replaced) {
  const std::filesystem::path output = folder_ / "output";
  const PendingFile other(output);
  EXPECT_THAT([&] { require_output(output, {.existing = Existing::replace}); },
              ThrowsMessage<UserError>(HasSubstr("is being written by another process")));
}

}  // namespace
}  // namespace cosmic
