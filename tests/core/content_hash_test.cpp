#include "core/content_hash.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace cosmic {
namespace {

template <class... Parts>
std::uint64_t hash_of(const Parts&... parts) {
  ContentHash hash;
  (hash.add(parts), ...);
  return hash.value();
}

std::uint64_t hash_of_numbers(const std::vector<std::vector<float>>& lists) {
  ContentHash hash;
  for (const std::vector<float>& list : lists) {
    hash.add(std::span<const float>(list));
  }
  return hash.value();
}

TEST(ContentHash, is_the_same_for_the_same_content) {
  EXPECT_EQ(hash_of_numbers({{1, 2, 3}}), hash_of_numbers({{1, 2, 3}}));
}

TEST(ContentHash, tells_where_one_list_ends_and_the_next_begins) {
  const std::set<std::uint64_t> hashes{
      hash_of_numbers({{1, 2, 3}}), hash_of_numbers({{1}, {2, 3}}), hash_of_numbers({{1, 2}, {3}}),
      hash_of_numbers({{1, 2, 3}, {}}), hash_of_numbers({{}, {1, 2, 3}})};
  EXPECT_EQ(hashes.size(), 5U);
}

TEST(ContentHash, changes_with_every_bit) {
  std::set<std::uint64_t> hashes{hash_of(std::uint64_t{0})};
  for (int bit = 0; bit < 64; ++bit) {
    hashes.insert(hash_of(std::uint64_t{1} << bit));
    hashes.insert(hash_of(std::uint64_t{0}, std::uint64_t{1} << bit));
  }
  EXPECT_EQ(hashes.size(), 129U);
}

TEST(ContentHash, tells_zeros_by_their_number) {
  std::set<std::uint64_t> hashes;
  ContentHash hash;
  for (int count = 0; count < 1000; ++count) {
    hash.add(std::uint64_t{0});
    hashes.insert(hash.value());
  }
  EXPECT_EQ(hashes.size(), 1000U);
}

// Fingerprints are written down and compared years later: the function must never change.
TEST(ContentHash, is_the_same_in_every_version) {
  EXPECT_EQ(hash_of(std::string_view("cosmic")), 6343990481008786926U);
}

}  // namespace
}  // namespace cosmic
