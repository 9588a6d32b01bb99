#include "core/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace cosmic {
namespace {

constexpr std::array<std::string_view, 3> kNames{"minibatch_size", "iterations", "ID"};

TEST(NearestName, is_the_one_with_the_fewest_letters_to_change) {
  EXPECT_EQ(nearest_name("minibatchsize", kNames), "minibatch_size");
  EXPECT_EQ(nearest_name("iteratons", kNames), "iterations");
}

TEST(NearestName, does_not_look_at_the_case_of_letters) {
  EXPECT_EQ(nearest_name("id", kNames), "ID");
}

TEST(NearestName, is_found_at_once_for_a_text_of_any_length) {
  // The distance to all of it would take seconds.
  EXPECT_FALSE(nearest_name(std::string(1 << 24, 'x'), kNames).empty());
}

TEST(NearName, is_one_that_was_mistyped_or_not_finished) {
  EXPECT_EQ(near_name("iteratoins", kNames), "iterations");
  EXPECT_EQ(near_name("mini", kNames), "minibatch_size");
}

TEST(NearName, is_none_where_nothing_is_near) {
  EXPECT_EQ(near_name("epochs", kNames), std::nullopt);
  EXPECT_EQ(near_name("", kNames), std::nullopt);
  EXPECT_EQ(near_name("iterations", {}), std::nullopt);
  EXPECT_EQ(near_name(std::string(1 << 24, 'x'), kNames), std::nullopt);
}

}  // namespace
}  // namespace cosmic
