// `cosmictagger config`, from the command line's words to what is printed.
#include <gmock/gmock.h>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
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
  words.insert(words.begin(), "config");
  return printed_by([&] { run_command(add_config, words); });
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
