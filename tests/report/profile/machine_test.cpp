#include "session/machine.hpp"

#include <gtest/gtest.h>

namespace cosmic::session {
namespace {

TEST(Machine, that_is_measured_knows_its_peak) {
  const Machine machine = find_machine({.target = "cpu", .threads = 1}, Purpose::training);
  EXPECT_EQ(machine.target, "cpu");
  EXPECT_EQ(machine.provenance, Provenance::measured);
  EXPECT_EQ(machine.threads, 1);
  ASSERT_TRUE(machine.peak.has_value());
  // Any machine that this program can be built for is faster.
  EXPECT_GT(machine.peak->flops_per_second, 1e8);
  EXPECT_GT(machine.peak->bytes_per_second, 1e7);
}

TEST(Machine, that_cannot_tell_its_peak_has_none) {
  EXPECT_EQ(find_machine({.target = "reference", .threads = 1}, Purpose::training).peak,
            std::nullopt);
}

}  // namespace
}  // namespace cosmic::session
