#include "cli/reference_spelling.hpp"

#include <gmock/gmock.h>

namespace cosmic::cli {
namespace {

using testing::ElementsAre;

TEST(ReferenceSpelling, becomes_the_command_of_its_mode) {
  EXPECT_THAT(with_command({"mode=train", "run.id=01"}),
              ElementsAre("train", "mode=train", "run.id=01"));
  EXPECT_THAT(with_command({"run.id=01", "mode=inference"}),
              ElementsAre("infer", "run.id=01", "mode=inference"));
  EXPECT_THAT(with_command({"mode=iotest"}), ElementsAre("iotest", "mode=iotest"));
  EXPECT_THAT(with_command({"--config-name", "a21", "run.id=1"}),
              ElementsAre("train", "--config-name", "a21", "run.id=1"));
  EXPECT_THAT(with_command({"--config-name=a21"}), ElementsAre("train", "--config-name=a21"));
}

TEST(ReferenceSpelling, of_help_is_the_help_of_a_command) {
  EXPECT_THAT(with_command({"help", "data", "show"}), ElementsAre("data", "show", "--help"));
  EXPECT_THAT(with_command({"help"}), ElementsAre("--help"));
}

TEST(ReferenceSpelling, leaves_commands_and_flags_alone) {
  EXPECT_THAT(with_command({"train", "run.id=01"}), ElementsAre("train", "run.id=01"));
  EXPECT_THAT(with_command({"--version"}), ElementsAre("--version"));
  EXPECT_THAT(with_command({}), ElementsAre());
}

}  // namespace
}  // namespace cosmic::cli
