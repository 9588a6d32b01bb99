#include "config/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parsed.hpp"
#include "config/seeds.hpp"
#include "core/error.hpp"

namespace cosmic::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

Configuration of(const std::string& line) {
  return parsed(line).configuration;
}

std::vector<std::string> keys_of(const std::vector<Difference>& differences) {
  std::vector<std::string> keys;
  for (const Difference& change : differences) {
    keys.push_back(change.key);
  }
  return keys;
}

TEST(Difference, lists_every_key_that_differs_with_both_values) {
  const std::vector<Difference> changes =
      difference(of("run.id=1"), of("run.id=1 run.iterations=9 network.depth=4"));
  ASSERT_EQ(keys_of(changes), (std::vector<std::string>{"run.iterations", "network.depth"}));
  EXPECT_EQ(changes[0].before, "500");
  EXPECT_EQ(changes[0].now, "9");
  EXPECT_EQ(to_text(changes),
            "  run.iterations  was 500, is now 9\n"
            "  network.depth   was 6, is now 4\n");
  EXPECT_TRUE(difference(of("run.id=1"), of("run.id=1")).empty());
}

TEST(Resume, is_refused_with_another_network_or_optimizer_and_shows_what_differs) {
  EXPECT_THAT(
      [] {
        require_resumable(of("run.id=1"),
                          of("run.id=1 network=a21 mode.optimizer.name=sgd run.iterations=9"));
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("network.n_initial_filters"), HasSubstr("16"),
                                     HasSubstr("mode.optimizer.name"), HasSubstr("sgd"),
                                     Not(HasSubstr("run.iterations")))));
}

TEST(Resume, goes_on_with_a_warning_where_only_the_results_change) {
  const std::vector<Difference> warned = require_resumable(
      of("run.id=1"), of("run.id=1 mode.optimizer.learning_rate=1e-3 run.iterations=9"));
  EXPECT_EQ(keys_of(warned), std::vector<std::string>{"mode.optimizer.learning_rate"});
}

TEST(Resume, is_free_in_what_does_not_touch_the_results) {
  EXPECT_TRUE(require_resumable(of("run.id=1"),
                                of("run.id=2 run.iterations=9 mode.logging_iteration=10 "
                                   "mode.checkpoint_iteration=3 run.max_time=1h data.threads=2"))
                  .empty());
}

TEST(Seeds, that_are_left_open_are_settled_once) {
  Configuration first = of("run.id=1 data.seed=5");
  settle_seeds(first, 77);
  EXPECT_EQ(first.run.seed, 77);
  EXPECT_EQ(first.data.seed, 5);
  EXPECT_EQ(first.framework.seed, 77);

  Configuration again = of("run.id=1");
  keep_seeds(again, first);
  settle_seeds(again, 99);
  EXPECT_TRUE(difference(first, again).empty());
}

TEST(Seeds, follow_the_one_that_is_given) {
  Configuration c = of("run.id=1 run.seed=3");
  settle_seeds(c, 77);
  EXPECT_EQ(c.data.seed, 3);
  EXPECT_EQ(c.framework.seed, 3);
}

}  // namespace
}  // namespace cosmic::config
