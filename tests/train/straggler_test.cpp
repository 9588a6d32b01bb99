#include "train/straggler.hpp"

#include <gtest/gtest.h>

namespace cosmic::train {
namespace {

/// As many updates as are looked at together; what the last of them said.
std::optional<StragglerWatch::Straggler> add_all(StragglerWatch& watch,
                                                 const std::vector<double>& seconds) {
  for (int update = 1; update < StragglerWatch::kUpdates; ++update) {
    EXPECT_FALSE(watch.add(seconds).has_value()) << "after " << update << " updates";
  }
  return watch.add(seconds);
}

TEST(Straggler, is_named_after_some_updates_with_how_much_longer_it_works) {
  StragglerWatch watch;
  const auto found = add_all(watch, {1, 1, 2.5, 1});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 2);
  EXPECT_DOUBLE_EQ(found->factor, 2.5);
}

TEST(Straggler, is_none_where_all_work_about_as_long) {
  StragglerWatch watch;
  EXPECT_FALSE(add_all(watch, {1, 1.2, 1.4, 1.1}).has_value());
  EXPECT_FALSE(add_all(watch, {0, 0, 0}).has_value());
}

TEST(Straggler, of_two_is_the_slower_one) {
  StragglerWatch watch;
  const auto found = add_all(watch, {3, 1});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 0);
}

TEST(Straggler, is_named_once_and_again_when_it_was_fast_in_between) {
  StragglerWatch watch;
  EXPECT_TRUE(add_all(watch, {1, 1, 2}).has_value());
  EXPECT_FALSE(add_all(watch, {1, 1, 2}).has_value());
  EXPECT_TRUE(add_all(watch, {2, 1, 1}).has_value());
  EXPECT_FALSE(add_all(watch, {1, 1, 1}).has_value());
  EXPECT_TRUE(add_all(watch, {2, 1, 1}).has_value());
}

TEST(Straggler, is_nobody_who_was_slow_once) {
  StragglerWatch watch;
  for (int update = 0; update < StragglerWatch::kUpdates; ++update) {
    EXPECT_FALSE(watch.add({1, update == 3 ? 5.0 : 1.0, 1}).has_value());
  }
}

}  // namespace
}  // namespace cosmic::train
