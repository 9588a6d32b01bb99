// What a user meets where a device is missing, too old, full or lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/device_memory.hpp"
#include "target/cuda/host_driver.hpp"

namespace cosmic::target::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class CudaFailures : public testing::Test {
 protected:
  std::unique_ptr<Target> make(int device = 0) const {
    return make_cuda_target(host_driver(machine_), device);
  }

  /// Doubles a thousand numbers.
  static std::unique_ptr<Executable> compile(const Target& target) {
    graph::Builder g;
    g.output("y", g.add(graph::Scale{2}, {g.input("x", {graph::DType::f32, {1000}})}));
    const compile::TargetInfo info = target.info();
    const compile::Plan plan =
        compile::make_plan(g.take(), compile::finishing_passes(info), info, {});
    return compile_all(target, plan, target.make_bank({}), {});
  }

  std::shared_ptr<HostMachine> machine_ = std::make_shared<HostMachine>();
};

TEST_F(CudaFailures, without_a_driver_say_so) {
  machine_->presence = {.answer = {Answer::Kind::no_driver, "cudaErrorInsufficientDriver"}};
  EXPECT_THAT([&] { make(); },
              ThrowsMessage<TargetError>(AllOf(HasSubstr("target 'cuda' cannot be used here"),
                                               HasSubstr("there is no NVIDIA driver"))));
}

TEST_F(CudaFailures, with_an_old_driver_name_both_versions) {
  machine_->presence = {.answer = {Answer::Kind::driver_too_old, "cudaErrorInsufficientDriver"},
                        .devices = 0,
                        .driver_version = 12020,
                        .runtime_version = 13000};
  EXPECT_THAT([&] { make(); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("driver is too old"), HasSubstr("supports CUDA 12.2"),
                        HasSubstr("built with CUDA 13.0"), HasSubstr("update the driver"))));
}

TEST_F(CudaFailures, without_a_device_say_so_and_what_hides_it) {
  machine_->presence.answer = {Answer::Kind::no_device, "cudaErrorNoDevice"};
  machine_->presence.devices = 0;
  EXPECT_THAT([&] { make(); },
              ThrowsMessage<TargetError>(HasSubstr("there is an NVIDIA driver but no GPU")));
  machine_->presence.visible_devices = "";
  EXPECT_THAT([&] { make(); }, ThrowsMessage<TargetError>(HasSubstr("CUDA_VISIBLE_DEVICES is ''")));
}

TEST_F(CudaFailures, of_another_kind_say_what_cuda_says) {
  machine_->presence.answer = {Answer::Kind::failed, "cudaErrorSystemNotReady, system not ready"};
  EXPECT_THAT([&] { make(); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("CUDA does not start"), HasSubstr("cudaErrorSystemNotReady"))));
}

TEST_F(CudaFailures, of_the_machine_that_this_runs_on_are_said_by_all_who_are_asked) {
  const Registration real = registration();
  const Support available = real.available();
  EXPECT_EQ(available.ok, real.devices() > 0) << available.why_not;
  EXPECT_EQ(available.ok, !real.list_of_devices().empty());
  if (!available.ok) {
    EXPECT_THAT([&] { real.make(0); }, ThrowsMessage<TargetError>(HasSubstr(available.why_not)));
  }
}

TEST_F(CudaFailures, for_a_device_that_is_not_there_say_how_many_are) {
  EXPECT_THAT([&] { make(3); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run.device is 3"),
                                             HasSubstr("has 1 device here, counted from 0"))));
  EXPECT_THAT([&] { make(-1); }, ThrowsMessage<UserError>(HasSubstr("run.device is -1")));
}

TEST_F(CudaFailures, for_a_card_that_is_too_old_name_it_and_what_it_lacks) {
  machine_->facts.name = "Tesla T4";
  machine_->facts.major = 7;
  machine_->facts.minor = 5;
  EXPECT_THAT([&] { make(); }, ThrowsMessage<TargetError>(AllOf(HasSubstr("device 0 (Tesla T4)"),
                                                                HasSubstr("compute capability 7.5"),
                                                                HasSubstr("8.0 and later"))));
}

TEST_F(CudaFailures, for_want_of_memory_say_how_much_is_free_of_how_much) {
  const std::unique_ptr<Target> target = make();
  machine_->facts.memory_bytes = 80'000'000'000;
  machine_->used_by_others = 79'999'999'000;
  EXPECT_THAT(
      [&] { compile(*target); },
      ThrowsMessage<TargetError>(
          AllOf(HasSubstr("device 0 (Host GPU) has no"), HasSubstr("0.00 GB of 80.00 GB are free"),
                HasSubstr("other programs"), HasSubstr("run.minibatch_size"))));
  EXPECT_EQ(machine_->allocated, 0) << "what was taken before is given back";
}

TEST_F(CudaFailures, of_an_allocation_for_another_reason_do_not_speak_of_full_memory) {
  const std::unique_ptr<Target> target = make();
  machine_->allocating = {Answer::Kind::failed,
                          "cudaErrorStreamCaptureUnsupported, operation not permitted when stream "
                          "is capturing"};
  EXPECT_THAT([&] { compile(*target); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("device 0 (Host GPU) failed in the allocation of"),
                        HasSubstr("cudaErrorStreamCaptureUnsupported"), Not(HasSubstr("are free")),
                        Not(HasSubstr("run.minibatch_size")))));
  machine_->allocating = {Answer::Kind::device_lost, "cudaErrorIllegalAddress, ..."};
  EXPECT_THAT([&] { compile(*target); },
              ThrowsMessage<TargetError>(AllOf(HasSubstr("was lost in the allocation of"),
                                               HasSubstr("cudaErrorIllegalAddress"))));
  EXPECT_EQ(machine_->allocated, 0) << "what was taken before is given back";
}

TEST_F(CudaFailures, of_pinned_memory_say_whether_there_is_too_little) {
  const std::shared_ptr<Device> device = host_driver(machine_)->open(0);
  machine_->allocating = {Answer::Kind::out_of_memory, "cudaErrorMemoryAllocation"};
  EXPECT_THAT([&] { PinnedMemory(device, 100, "the losses"); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("no 100 bytes of memory that can be pinned for the losses"),
                        HasSubstr("ulimit -l"))));
  machine_->allocating = {Answer::Kind::failed, "cudaErrorNotPermitted"};
  EXPECT_THAT([&] { PinnedMemory(device, 100, "the losses"); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("failed in the allocation of pinned memory for the losses"),
                        HasSubstr("cudaErrorNotPermitted"), Not(HasSubstr("ulimit")))));
}

TEST_F(CudaFailures, of_the_device_in_a_run_are_thrown_when_it_is_waited_for) {
  const std::unique_ptr<Target> target = make();
  const std::unique_ptr<Executable> executable = compile(*target);
  std::vector<std::byte> x(4000);
  std::vector<std::byte> y(4000);
  const std::vector<RunInput> inputs{std::span<const std::byte>(x)};
  const std::vector<std::span<std::byte>> outputs{y};
  machine_->end_of_work = {Answer::Kind::device_lost, "cudaErrorECCUncorrectable, ..."};
  executable->submit(inputs);
  EXPECT_THAT([&] { executable->wait(outputs); },
              ThrowsMessage<TargetError>(AllOf(HasSubstr("device 0 (Host GPU) was lost in a run"),
                                               HasSubstr("cudaErrorECCUncorrectable"),
                                               HasSubstr("last checkpoint"))));
  EXPECT_FALSE(executable->in_flight());
  machine_->end_of_work = {Answer::Kind::failed, "cudaErrorLaunchOutOfResources, ..."};
  executable->submit(inputs);
  EXPECT_THAT([&] { executable->wait(outputs); },
              ThrowsMessage<TargetError>(HasSubstr("failed in a run: cudaErrorLaunchOut")));
  machine_->end_of_work = {};
  executable->submit(inputs);
  EXPECT_NO_THROW(executable->wait(outputs));
}

/// As replicas of a server do. A recording in one thread must not make another's allocation fail.
TEST_F(CudaFailures, do_not_come_from_threads_that_share_a_device) {
  const Registration real = registration();
  if (const Support available = real.available(); !available.ok) {
    GTEST_SKIP() << available.why_not;
  }
  constexpr int kThreads = 4;
  constexpr int kTimes = 50;
  std::vector<std::string> troubles(kThreads);
  std::vector<std::thread> threads;
  for (std::string& trouble : troubles) {
    threads.emplace_back([&] {
      try {
        const std::unique_ptr<Target> target = real.make(0);
        const std::vector<float> x(1000, 21.0F);
        std::vector<float> y(1000);
        for (int i = 0; i < kTimes; ++i) {
          const std::unique_ptr<Executable> executable = compile(*target);
          const std::vector<RunInput> inputs{std::as_bytes(std::span(x))};
          const std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(y))};
          executable->submit(inputs);
          executable->wait(outputs);
          COSMIC_REQUIRE(InternalError, y == std::vector<float>(1000, 42.0F), "a wrong answer");
        }
      } catch (const std::exception& error) {
        trouble = error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(troubles, testing::Each(std::string()));
}

}  // namespace
}  // namespace cosmic::target::cuda
