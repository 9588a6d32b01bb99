#include "core/regular_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(RegularFile, is_returned_as_it_is) {
  const ScratchFolder folder;
  std::ofstream(folder / "file") << "text";
  std::filesystem::create_symlink("file", folder / "link");
  EXPECT_EQ(regular_file(folder / "file"), folder / "file");
  EXPECT_EQ(regular_file(folder / "link"), folder / "link");
}

TEST(RegularFile, that_is_missing_is_left_to_who_opens_it) {
  const ScratchFolder folder;
  EXPECT_EQ(regular_file(folder / "missing"), folder / "missing");
}

TEST(RegularFile, is_no_pipe_and_nobody_waits_for_its_writer) {
  const ScratchFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { regular_file(pipe); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(pipe.string()), HasSubstr("a named pipe"))));
}

TEST(RegularFile, is_no_folder_and_no_device) {
  const ScratchFolder folder;
  EXPECT_THAT([&] { regular_file(folder.path()); },
              ThrowsMessage<DataError>(HasSubstr("a folder")));
  EXPECT_THAT([] { regular_file("/dev/zero"); }, ThrowsMessage<DataError>(HasSubstr("a device")));
}

}  // namespace
}  // namespace cosmic
