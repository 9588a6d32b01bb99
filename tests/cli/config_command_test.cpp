// `cosmictagger config`, from the command line's words to what is printed.
#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.hpp"
#include "config/dump.hpp"
#include "config/help.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"

namespace cosmic::cli {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What `cosmictagger config WORDS...` prints.
std::string run(std::vector<std::string> words) {
  CLI::App app;
  add_config(app);
  words.insert(words.begin(), "config");
  std::reverse(words.begin(), words.end());  // the parser takes them from the end
  testing::internal::CaptureStdout();
  try {
    app.parse(words);
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  return testing::internal::GetCapturedStdout();
}

TEST(ConfigCommand, prints_the_resolved_configuration) {
  const std::vector<std::string> words{"run.id=01", "--config-name", "a21", "data=real"};
  EXPECT_EQ(run(words), config::dump(config::parse(words).configuration));
  EXPECT_EQ(run({"run.id=01", "--config-name=a21", "data=real"}), run(words));
}

TEST(ConfigCommand, prints_a_recipe_that_gives_the_same) {
  const config::Configuration expected =
      config::parse(std::vector<std::string>{"run.id=01", "network=polaris"}).configuration;
  EXPECT_EQ(config::from_yaml(run({"--yaml", "run.id=01", "network=polaris"}), "printed"),
            expected);
}

TEST(ConfigCommand, does_not_need_a_run_id) {
  EXPECT_THAT(run({}), HasSubstr("id..........................: ???"));
}

TEST(ConfigCommand, prints_the_document) {
  EXPECT_EQ(run({"--markdown"}), config::markdown());
}

TEST(ConfigCommand, refuses_what_the_parser_refuses) {
  EXPECT_THAT([] { run({"--verbose"}); }, ThrowsMessage<UserError>(HasSubstr("'--verbose'")));
}

}  // namespace
}  // namespace cosmic::cli
