#include "core/control_group.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::Optional;

TEST(ControlGroupQuota, of_version_2_is_the_least_on_the_way_up) {
  const ScratchFolder root;
  std::filesystem::create_directories(root / "jobs" / "mine");
  std::ofstream(root / "jobs" / "cpu.max") << "300000 100000\n";
  std::ofstream(root / "jobs" / "mine" / "cpu.max") << "max 100000\n";
  EXPECT_THAT(control_group_quota(root.path(), "0::/jobs/mine\n"), Optional(3.0));
  std::ofstream(root / "jobs" / "mine" / "cpu.max") << "150000 100000\n";
  EXPECT_THAT(control_group_quota(root.path(), "0::/jobs/mine\n"), Optional(1.5));
}

TEST(ControlGroupQuota, of_version_1_is_in_the_folder_of_its_controller) {
  const ScratchFolder root;
  std::filesystem::create_directories(root / "cpu" / "mine");
  std::ofstream(root / "cpu" / "mine" / "cpu.cfs_quota_us") << "200000\n";
  std::ofstream(root / "cpu" / "mine" / "cpu.cfs_period_us") << "100000\n";
  EXPECT_THAT(control_group_quota(root.path(), "5:cpuset:/mine\n3:cpu,cpuacct:/mine\n0::/\n"),
              Optional(2.0));
  std::ofstream(root / "cpu" / "mine" / "cpu.cfs_quota_us") << "-1\n";
  EXPECT_EQ(control_group_quota(root.path(), "3:cpu,cpuacct:/mine\n"), std::nullopt);
}

TEST(ControlGroupQuota, of_a_machine_without_limits_is_none) {
  const ScratchFolder root;
  EXPECT_EQ(control_group_quota(root.path(), "0::/\n"), std::nullopt);
  EXPECT_EQ(control_group_quota(root.path(), "nonsense\n\n::"), std::nullopt);
}

TEST(ControlGroupMemory, of_version_2_is_the_least_that_is_left_on_the_way_up) {
  const ScratchFolder root;
  std::filesystem::create_directories(root / "jobs" / "mine");
  std::ofstream(root / "jobs" / "memory.max") << "8000\n";
  std::ofstream(root / "jobs" / "memory.current") << "5000\n";
  std::ofstream(root / "jobs" / "mine" / "memory.max") << "max\n";
  std::ofstream(root / "jobs" / "mine" / "memory.current") << "4000\n";
  EXPECT_THAT(control_group_memory_left(root.path(), "0::/jobs/mine\n"), Optional(3000));
  std::ofstream(root / "jobs" / "mine" / "memory.max") << "4100\n";
  EXPECT_THAT(control_group_memory_left(root.path(), "0::/jobs/mine\n"), Optional(100));
}

TEST(ControlGroupMemory, counts_files_that_could_be_read_again_as_left) {
  const ScratchFolder root;
  std::filesystem::create_directories(root / "mine");
  std::ofstream(root / "mine" / "memory.max") << "8000\n";
  std::ofstream(root / "mine" / "memory.current") << "7000\n";
  std::ofstream(root / "mine" / "memory.stat")
      << "anon 1000\ninactive_file 2500\nactive_file 300\n";
  EXPECT_THAT(control_group_memory_left(root.path(), "0::/mine\n"), Optional(3800));
}

TEST(ControlGroupMemory, of_version_1_is_in_the_folder_of_its_controller) {
  const ScratchFolder root;
  std::filesystem::create_directories(root / "memory" / "mine");
  std::ofstream(root / "memory" / "mine" / "memory.limit_in_bytes") << "9000\n";
  std::ofstream(root / "memory" / "mine" / "memory.usage_in_bytes") << "9500\n";
  EXPECT_THAT(control_group_memory_left(root.path(), "5:cpuset:/\n3:memory:/mine\n"), Optional(0));
  EXPECT_EQ(control_group_memory_left(root.path(), "3:cpu:/mine\n0::/\n"), std::nullopt);
}

}  // namespace
}  // namespace cosmic
