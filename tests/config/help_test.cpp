#include "config/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/schema.hpp"
#include "scratch_folder.hpp"

namespace cosmic::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Help, explains_every_key_with_its_default) {
  const std::string text = help();
  for (const Key& key : schema()) {
    EXPECT_THAT(text, HasSubstr("\n  " + key.name + (key.required ? "  (must" : "=")));
  }
  EXPECT_THAT(text, HasSubstr("run.minibatch_size=2"));
  EXPECT_THAT(text, HasSubstr("float32 | mixed | bfloat16 | float16"));
}

TEST(Help, of_a_mode_has_only_its_keys) {
  EXPECT_THAT(help(Mode::inference), Not(HasSubstr("mode.checkpoint_iteration")));
  EXPECT_THAT(help(Mode::train), HasSubstr("mode.checkpoint_iteration"));
}

TEST(Help, fits_a_terminal_of_a_hundred_columns) {
  std::istringstream lines(help());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(ConfigurationDocument, is_in_step_with_the_program) {
  EXPECT_TRUE(content_of("docs/configuration.md") == markdown())
      << "run `cosmictagger config --markdown > docs/configuration.md`";
}

}  // namespace
}  // namespace cosmic::config
