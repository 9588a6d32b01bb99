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

TEST(SimilarName, is_the_nearest_if_few_of_its_letters_are_wrong) {
  EXPECT_EQ(similar_name("iteratoins", kNames), "iterations");
  EXPECT_EQ(similar_name("verbose", kNames), std::nullopt);
  EXPECT_EQ(similar_name(std::string(1 << 24, 'x'), kNames), std::nullopt);
}

TEST(NearestName, is_found_at_once_for_a_text_of_any_length) {
  // The distance to all of it would take seconds.
  EXPECT_FALSE(nearest_name(std::string(1 << 24, 'x'), kNames).empty());
}

}  // namespace
}  // namespace cosmic
