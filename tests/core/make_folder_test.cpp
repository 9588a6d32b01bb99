#include "core/make_folder.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "core/error.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(MakeFolder, makes_it_with_those_above_or_takes_the_one_there_is) {
  const ScratchFolder folder;
  make_folder(folder / "a/b/c", "output_dir");
  make_folder(folder / "a/b/c", "output_dir");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b/c"));
}

TEST(MakeFolder, names_the_setting_whose_path_leads_through_a_file_or_round_in_a_circle) {
  const ScratchFolder folder;
  std::ofstream(folder / "file") << "text";
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const char* const path : {"file", "file/x", "loop", "loop/x"}) {
    EXPECT_THAT(
        [&] { make_folder(folder / path, "output_dir"); },
        ThrowsMessage<UserError>(AllOf(HasSubstr("output_dir = " + (folder / path).string()),
                                       HasSubstr("choose another output_dir"))))
        << path;
  }
}

}  // namespace
}  // namespace cosmic
