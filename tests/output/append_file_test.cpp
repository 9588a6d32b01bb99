#include "output/append_file.hpp"

#include <gmock/gmock.h>

#include <cerrno>

#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic::output {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A disk with so much room left.
class SmallDisk : public FileOperations {
 public:
  explicit SmallDisk(std::size_t room) : room_(room) {}

  ssize_t write(int descriptor, std::span<const std::byte> bytes) override {
    if (room_ == 0) {
      errno = ENOSPC;
      return -1;
    }
    const ssize_t written =
        FileOperations::write(descriptor, bytes.first(std::min(room_, bytes.size())));
    room_ -= static_cast<std::size_t>(written);
    return written;
  }

 private:
  std::size_t room_;
};

class AppendFileTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "file";
};

TEST_F(AppendFileTest, goes_on_where_an_earlier_one_ended) {
  AppendFile(path_, AppendFile::Start::fresh).append("one\n");
  AppendFile(path_, AppendFile::Start::continued).append("two\n");
  EXPECT_EQ(content_of(path_), "one\ntwo\n");
}

TEST_F(AppendFileTest, adds_nothing_to_what_a_link_leads_to) {
  std::ofstream(folder_ / "mine") << "mine";
  std::filesystem::create_symlink("mine", path_);
  EXPECT_THROW(AppendFile(path_, AppendFile::Start::continued), DataError);
  EXPECT_EQ(content_of(folder_ / "mine"), "mine");
}

TEST_F(AppendFileTest, fresh_one_takes_no_name_that_is_taken) {
  std::ofstream(path_) << "old";
  EXPECT_THAT([&] { AppendFile(path_, AppendFile::Start::fresh); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(path_.string()), HasSubstr("exists"))));
  EXPECT_EQ(content_of(path_), "old");
}

TEST_F(AppendFileTest, full_disk_leaves_no_half_record) {
  SmallDisk disk(10);
  AppendFile file(path_, AppendFile::Start::fresh, disk);
  file.append("first\n");
  EXPECT_THAT([&] { file.append("second\n"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(path_.string()), HasSubstr("No space left"),
                                             HasSubstr("free space"))));
  EXPECT_EQ(content_of(path_), "first\n");
}

}  // namespace
}  // namespace cosmic::output
