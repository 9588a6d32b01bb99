#include "target/device.hpp"

#include <gtest/gtest.h>

#include "target/registry.hpp"

namespace cosmic::target {
namespace {

TEST(MemoryNeed, adds_up_what_is_for_the_same_and_lists_the_largest_first) {
  MemoryNeed need;
  need.add("inputs", 12'345'678);
  need.add("values", 5'000'000'000);
  need.add("values", 200'000'000);
  need.add("partial sums", 0);
  EXPECT_EQ(need.bytes(), 5'212'345'678);
  EXPECT_EQ(need.parts().size(), 2U) << "nothing is not listed";
  EXPECT_EQ(to_string(need), "values 5.20 GB, inputs 12.3 MB");
  EXPECT_EQ(memory_text(999), "1.0 kB");
}

TEST(DeviceOfTarget, is_nothing_for_a_target_in_the_host_s_own_memory) {
  EXPECT_FALSE(device_of_target("cpu", 0).has_value());
  EXPECT_FALSE(make_target("cpu")->device_room().has_value());
  EXPECT_FALSE(make_target("cpu")->memory_need({}, {}).has_value());
  EXPECT_EQ(to_string(DeviceIdentity{2, "NVIDIA H200", ""}), "device 2 (NVIDIA H200)");
}

}  // namespace
}  // namespace cosmic::target
