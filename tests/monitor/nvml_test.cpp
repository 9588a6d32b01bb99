#include "monitor/nvml.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "monitor/fake_nvml.hpp"

namespace cosmic::monitor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class NvmlOfTwoDevices : public testing::Test {
 protected:
  NvmlOfTwoDevices() { fake_nvml_machine() = {}; }

  Nvml nvml_{std::make_unique<fake_nvml::Functions>(), ""};
};

TEST_F(NvmlOfTwoDevices, has_what_a_device_tells_and_nothing_for_the_rest) {
  ASSERT_TRUE(nvml_.here());
  EXPECT_EQ(nvml_.why_not(), "");
  const std::vector<DeviceStatus> devices = nvml_.devices();
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_EQ(devices[0].index, 0);
  EXPECT_EQ(devices[0].name, "NVIDIA H200");
  EXPECT_EQ(devices[0].bus_id, "00000000:18:00.0");
  EXPECT_EQ(devices[0].clock_hz, 1980e6);
  EXPECT_EQ(devices[0].celsius, 41);
  EXPECT_NEAR(devices[0].watts.value(), 312.4, 1e-9);
  EXPECT_NEAR(devices[0].most_watts.value(), 700, 1e-9);
  EXPECT_EQ(devices[0].used_bytes, 5'900'000'000);
  EXPECT_EQ(devices[0].total_bytes, 150'754'820'096);
  EXPECT_NEAR(devices[0].utilisation.value(), 0.97, 1e-9);
  EXPECT_EQ(devices[1].name, "NVIDIA A100");
  EXPECT_EQ(devices[1].bus_id, "00000000:3A:00.0");
  EXPECT_FALSE(devices[1].clock_hz.has_value());
  EXPECT_FALSE(devices[1].watts.has_value());
  EXPECT_FALSE(devices[1].used_bytes.has_value());
  EXPECT_FALSE(devices[1].utilisation.has_value());
}

TEST_F(NvmlOfTwoDevices, names_the_other_processes_of_a_device) {
  fake_nvml_machine().own_process = static_cast<unsigned>(getpid());
  const std::vector<DeviceProcess> others = nvml_.other_processes("00000000:18:00.0");
  ASSERT_THAT(others, SizeIs(2));
  EXPECT_EQ(others[0].number, 4711);
  EXPECT_EQ(others[0].name, "python3");
  EXPECT_EQ(others[0].bytes, 41'000'000'000);
  EXPECT_EQ(others[1].number, 4712);
  EXPECT_EQ(others[1].name, "");
  EXPECT_FALSE(others[1].bytes.has_value());
  EXPECT_THAT(nvml_.other_processes("00000000:3A:00.0"), IsEmpty());
  EXPECT_THAT(nvml_.other_processes("00000000:99:00.0"), IsEmpty());
  EXPECT_THAT(nvml_.other_processes(""), IsEmpty());
}

TEST_F(NvmlOfTwoDevices, goes_on_without_functions_that_an_older_library_does_not_have) {
  fake_nvml_machine().missing = {"nvmlDeviceGetComputeRunningProcesses_v3",
                                 "nvmlDeviceGetEnforcedPowerLimit"};
  EXPECT_FALSE(nvml_.devices().at(0).most_watts.has_value());
  EXPECT_TRUE(nvml_.devices().at(0).watts.has_value());
  EXPECT_THAT(nvml_.other_processes("00000000:18:00.0"), IsEmpty());
}

TEST_F(NvmlOfTwoDevices, keeps_the_number_of_a_device_beside_one_that_cannot_be_reached) {
  fake_nvml_machine().unreachable = 0;
  const std::vector<DeviceStatus> devices = nvml_.devices();
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_EQ(devices[0].name, "unreachable");
  EXPECT_FALSE(devices[0].clock_hz.has_value());
  EXPECT_EQ(devices[1].index, 1);
  EXPECT_EQ(devices[1].name, "NVIDIA A100");
}

TEST(Nvml, is_started_and_stopped_once) {
  fake_nvml_machine() = {};
  {
    const Nvml nvml(std::make_unique<fake_nvml::Functions>(), "");
    nvml.devices();
    EXPECT_EQ(fake_nvml_machine().starts, 1);
  }
  EXPECT_EQ(fake_nvml_machine().stops, 1);
}

TEST(Nvml, that_does_not_start_says_why_and_answers_nothing) {
  fake_nvml_machine() = {};
  fake_nvml_machine().answer_to_start = 9;
  {
    const Nvml nvml(std::make_unique<fake_nvml::Functions>(), "");
    EXPECT_FALSE(nvml.here());
    EXPECT_THAT(nvml.why_not(), HasSubstr("libnvidia-ml.so.1 does not start: Driver Not Loaded"));
    EXPECT_THAT(nvml.devices(), IsEmpty());
    EXPECT_THAT(nvml.other_processes("00000000:18:00.0"), IsEmpty());
  }
  EXPECT_EQ(fake_nvml_machine().stops, 0);
}

TEST(Nvml, that_is_not_there_says_so) {
  const Nvml nvml(nullptr, "there is no library");
  EXPECT_FALSE(nvml.here());
  EXPECT_EQ(nvml.why_not(), "there is no library");
  EXPECT_THAT(nvml.devices(), IsEmpty());
}

TEST(Nvml, of_the_machine_that_this_runs_on_either_works_or_says_why_not) {
  const Nvml nvml;
  EXPECT_EQ(nvml.here(), nvml.why_not().empty());
}

}  // namespace
}  // namespace cosmic::monitor
