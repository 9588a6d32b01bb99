#include "core/pending_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "core/error.hpp"
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

}  // namespace
}  // namespace cosmic
