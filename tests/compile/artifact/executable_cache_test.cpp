// The cache finds what it kept, refuses what it did not, stays within its size, and never ends a
// run.
#include "compile/artifact/executable_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "compile/artifact/artifact_file.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "compile/artifact/some_plan.hpp"
#include "scratch_folder.hpp"

namespace cosmic::compile::artifact {
namespace {

using compile::Facts;
using compile::Plan;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

unsigned mode_of(const std::filesystem::path& path) {
  return static_cast<unsigned>(std::filesystem::status(path).permissions());
}

/// The tiny plan under facts of its own.
Plan plan_number(int number) {
  Plan plan = tiny_plan();
  plan.origin.made_from = {{"target", "some"}, {"program", std::to_string(number)}};
  return plan;
}

class Cache : public testing::Test {
 protected:
  Cache() : cache_(folder_.path()) {}

  std::optional<Plan> find(const Facts& facts) {
    warnings_.clear();
    return cache_.find(facts, some_target(), warnings_);
  }
  std::filesystem::path keep(Plan plan) {
    cache_.keep(plan);
    EXPECT_THAT(plan.origin.warnings, IsEmpty());
    return cache_.file_of(plan.origin.made_from);
  }
  /// As if it had been used so long ago.
  static void set_age(const std::filesystem::path& file, std::chrono::hours age) {
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - age);
  }

  ScratchFolder folder_{"cache"};
  ExecutableCache cache_;
  std::vector<std::string> warnings_;
};

TEST_F(Cache, finds_what_it_kept) {
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  const std::optional<Plan> found = find(plan.origin.made_from);
  ASSERT_TRUE(found);
  EXPECT_EQ(plan_bytes(*found), plan_bytes(plan));
  EXPECT_EQ(found->origin.found_in, file.string());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Cache, does_not_find_what_differs_in_one_fact) {
  keep(plan_number(1));
  EXPECT_FALSE(find(plan_number(2).origin.made_from));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Cache, makes_its_folder) {
  const ExecutableCache deep(folder_ / "a" / "b");
  Plan plan = plan_number(1);
  deep.keep(plan);
  EXPECT_THAT(plan.origin.warnings, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(deep.file_of(plan.origin.made_from)));
}

TEST_F(Cache, in_a_folder_that_cannot_be_written_only_warns) {
  std::ofstream(folder_ / "file") << "not a folder";
  const ExecutableCache impossible(folder_ / "file" / "cache");
  Plan plan = plan_number(1);
  impossible.keep(plan);
  EXPECT_THAT(plan.origin.warnings,
              ElementsAre(AllOf(HasSubstr("every start compiles again"), HasSubstr("cache"),
                                HasSubstr("cannot be made (Not a directory)"))));
  EXPECT_FALSE(impossible.find(plan.origin.made_from, some_target(), warnings_));
}

TEST_F(Cache, refuses_a_damaged_file_and_replaces_it) {
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  std::string bytes = content_of(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr(file.string()), HasSubstr("is damaged"))));
  keep(plan);
  EXPECT_TRUE(find(plan.origin.made_from));
}

TEST_F(Cache, refuses_a_foreign_file) {
  const Plan plan = plan_number(1);
  std::ofstream(cache_.file_of(plan.origin.made_from)) << "something else altogether";
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("is not an executable of this program")));
}

TEST_F(Cache, refuses_a_good_file_under_the_name_of_another) {
  std::filesystem::rename(keep(plan_number(2)), cache_.file_of(plan_number(1).origin.made_from));
  EXPECT_FALSE(find(plan_number(1).origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("program: there '2', here '1'")));
}

/// The file of one plan with the notes of another program's and a checksum that is right again.
TEST_F(Cache, refuses_a_plan_that_was_changed_though_facts_name_and_checksum_are_right) {
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  const Facts notes = load_artifact(file).notes;
  Plan changed = some_plan();
  changed.origin.made_from = plan.origin.made_from;
  const Plan* const one[] = {&changed};
  std::ofstream(file, std::ios::binary) << artifact_bytes(one, notes);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr(file.string()), HasSubstr("another plan"),
                                           HasSubstr(key_of(plan.origin.made_from)))));
}

TEST_F(Cache, refuses_a_file_that_no_cache_wrote) {
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  const Plan* const one[] = {&plan};
  std::ofstream(file, std::ios::binary) << artifact_bytes(one);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("was not written by this cache")));
}

TEST_F(Cache, makes_folder_and_files_that_only_their_owner_can_write_whatever_the_umask) {
  const mode_t before = umask(0);
  const ExecutableCache deep(folder_ / "made");
  Plan plan = plan_number(1);
  deep.keep(plan);
  umask(before);
  EXPECT_EQ(mode_of(folder_ / "made"), 0700U);
  EXPECT_EQ(mode_of(deep.file_of(plan.origin.made_from)), 0600U);
  EXPECT_TRUE(deep.find(plan.origin.made_from, some_target(), warnings_));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Cache, in_a_folder_that_others_can_write_is_not_used_and_says_why) {
  Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  for (const mode_t mode : {mode_t{0770}, mode_t{0702}, mode_t{01777}}) {
    ASSERT_EQ(chmod(folder_.path().c_str(), mode), 0);
    EXPECT_FALSE(find(plan.origin.made_from));
    const auto says_why = AllOf(HasSubstr("is not used"), HasSubstr(folder_.path().string()),
                                HasSubstr("can be written by others"), HasSubstr("chmod 700"));
    EXPECT_THAT(warnings_, ElementsAre(says_why));
    std::filesystem::remove(file);
    plan.origin.warnings = warnings_;
    cache_.keep(plan);
    EXPECT_THAT(plan.origin.warnings, ElementsAre(says_why));  // once
    EXPECT_FALSE(std::filesystem::exists(file));
    ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
    plan.origin.warnings.clear();
    keep(plan);
  }
  EXPECT_TRUE(find(plan.origin.made_from));
}

TEST_F(Cache, does_not_use_a_file_that_others_can_write) {
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  ASSERT_EQ(chmod(file.c_str(), 0620), 0);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr(file.string()), HasSubstr("mode is 620"))));
}

TEST_F(Cache, of_another_user_is_not_used) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "needs a user who may give files away";
  }
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  ASSERT_EQ(chown(file.c_str(), 12345, 0), 0);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("belongs to user 12345")));
  ASSERT_EQ(chown(folder_.path().c_str(), 12345, 0), 0);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("belongs to user 12345")));
}

TEST_F(Cache, follows_no_links) {
  const Plan plan = plan_number(1);
  const std::filesystem::path file = keep(plan);
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "link");
  for (const char* name : {"link", "link/"}) {
    warnings_.clear();
    EXPECT_FALSE(
        ExecutableCache(folder_ / name).find(plan.origin.made_from, some_target(), warnings_));
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("links are not followed")));
  }
  std::filesystem::rename(file, folder_ / "elsewhere");
  std::filesystem::create_symlink(folder_ / "elsewhere", file);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("links are not followed")));
}

TEST_F(Cache, does_not_wait_for_a_pipe) {
  const Plan plan = plan_number(1);
  ASSERT_EQ(mkfifo(cache_.file_of(plan.origin.made_from).c_str(), 0600), 0);
  EXPECT_FALSE(find(plan.origin.made_from));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("is no plain file")));
}

TEST_F(Cache, refuses_a_plan_that_the_target_cannot_place) {
  keep(plan_number(1));
  compile::TargetInfo target = some_target();
  target.storage_bytes = [](const graph::Node& node) { return 2 * node.type.bytes(); };
  EXPECT_FALSE(cache_.find(plan_number(1).origin.made_from, target, warnings_));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("target 'some' needs")));
}

TEST_F(Cache, keeps_its_size_by_removing_what_was_used_least_recently) {
  const std::filesystem::path oldest = keep(plan_number(1));
  const std::filesystem::path used_again = keep(plan_number(2));
  const std::filesystem::path other = keep(plan_number(3));
  set_age(oldest, std::chrono::hours(3));
  set_age(used_again, std::chrono::hours(4));
  set_age(other, std::chrono::hours(2));
  ASSERT_TRUE(find(plan_number(2).origin.made_from));  // which makes it young again
  const std::uint64_t one = std::filesystem::file_size(other);
  const ExecutableCache small(folder_.path(), 3 * one);
  Plan fourth = plan_number(4);
  small.keep(fourth);
  EXPECT_FALSE(std::filesystem::exists(oldest));
  EXPECT_TRUE(std::filesystem::exists(used_again));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(small.file_of(fourth.origin.made_from)));
}

TEST_F(Cache, does_not_keep_what_is_larger_than_it_may_be) {
  const ExecutableCache nothing(folder_.path(), 10);
  Plan plan = plan_number(1);
  nothing.keep(plan);
  EXPECT_THAT(plan.origin.warnings, ElementsAre(HasSubstr("the cache is limited to 10")));
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(Cache, removes_what_a_killed_process_left_but_nothing_else) {
  const std::string key = "0123456789abcdef.cosmicx";
  std::ofstream(folder_ / ("." + key + ".partial-4711")) << "half";
  std::ofstream(folder_ / ("." + key + ".partial-4712")) << "being written";
  std::ofstream(folder_ / "notes.txt") << "mine";
  set_age(folder_ / ("." + key + ".partial-4711"), std::chrono::hours(2));
  set_age(folder_ / "notes.txt", std::chrono::hours(200));
  const std::filesystem::path file = keep(plan_number(1));
  EXPECT_THAT(folder_.names(),
              testing::UnorderedElementsAre("." + key + ".partial-4712", "notes.txt",
                                            file.filename().string()));
}

}  // namespace
}  // namespace cosmic::compile::artifact
