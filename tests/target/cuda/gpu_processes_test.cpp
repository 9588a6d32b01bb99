// Processes with a GPU each that train together, or that share one. GPUs are the host here, and
// processes its threads; each has a device of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "session/trained_together.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"
#include "target/registration.hpp"

namespace cosmic::target {
namespace cuda {
namespace {

bool works_late = false;

/// Of the thread that stands for a process.
const std::shared_ptr<HostMachine>& machine() {
  thread_local const auto of_thread = [] {
    auto made = std::make_shared<HostMachine>();
    made->works_late = works_late;
    return made;
  }();
  return of_thread;
}

}  // namespace
}  // namespace cuda

std::vector<Registration> built_targets() {
  return {
      {.name = "cpu", .compute_mode = "CPU", .make = [](int) { return cpu::make_cpu_target(); }},
      {.name = "cuda", .compute_mode = "GPU", .make = [](int device) {
         return cuda::make_cuda_target(cuda::host_driver(cuda::machine()), device);
       }}};
}

std::vector<AbsentTarget> absent_targets() {
  return {};
}

}  // namespace cosmic::target

namespace cosmic::session {
namespace {

using comm::Exchange;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Options on_gpu(Exchange exchange) {
  Options options = options_for("cuda", 1);
  options.exchange = exchange;
  return options;
}

class GpuProcesses : public testing::TestWithParam<Exchange> {
 protected:
  ~GpuProcesses() override { target::cuda::works_late = false; }
  static Options options() { return on_gpu(GetParam()); }
};

TEST_P(GpuProcesses, are_replicas_of_one_process_bit_for_bit) {
  expect_same_bits(3, options(), compile::Adam{});
}

TEST_P(GpuProcesses, whose_sums_come_as_late_as_may_be_are_replicas_bit_for_bit) {
  target::cuda::works_late = true;
  expect_same_bits(2, options(), compile::Adam{});
}

TEST(GpuExchange, by_the_host_of_narrow_and_scaled_gradients_is_that_of_replicas) {
  Options narrow = on_gpu(Exchange::host);
  narrow.precision.format = NumberFormat::bf16;
  expect_same_bits(2, narrow, compile::Adam{});
  narrow.precision.format = NumberFormat::f16;
  narrow.precision.loss_scaling.kind = compile::LossScaling::Kind::dynamic;
  expect_same_bits(2, narrow, compile::Adam{});
}

TEST(GpuExchange, by_the_host_of_what_was_accumulated_is_that_of_replicas) {
  Options accumulating = on_gpu(Exchange::host);
  accumulating.gradient_accumulation = 2;
  accumulating.replica_statistics = ReplicaStatistics::first;
  expect_same_bits(2, accumulating, compile::Adam{});
}

TEST_P(GpuProcesses, of_which_one_lost_its_loss_all_leave_their_state) {
  expect_lost_everywhere(options(), 1);
}

INSTANTIATE_TEST_SUITE_P(Exchange, GpuProcesses, testing::Values(Exchange::device, Exchange::host),
                         [](const testing::TestParamInfo<Exchange>& exchange) {
                           return exchange.param == Exchange::host ? "host" : "device";
                         });

/// Connections between devices, and sums over processes, that one of two processes has made.
struct Made {
  std::int64_t connections = 0;
  std::int64_t sums = 0;
};

Made made_by(Exchange exchange) {
  Made made;
  comm::ThreadsTogether(2).run([&](comm::Communicator& communicator) {
    Options options = on_gpu(exchange);
    options.communicator = &communicator;
    options.gradient_accumulation = 2;
    const TrainingModel training =
        compiled_training(options, compile::Adam{}, small_network(), tiny_types());
    if (communicator.rank() == 0) {
      made = {target::cuda::machine()->connections, target::cuda::machine()->sums_recorded};
    }
  });
  return made;
}

TEST(GpuExchange, is_between_devices_unless_the_host_is_asked_for) {
  const Made usual = made_by(Exchange::automatic);
  EXPECT_EQ(usual.connections, 1) << "for all programs of a model";
  EXPECT_GT(usual.sums, 0);
  EXPECT_EQ(made_by(Exchange::device).connections, 1);
  const Made by_host = made_by(Exchange::host);
  EXPECT_EQ(by_host.connections, 0);
  EXPECT_EQ(by_host.sums, usual.sums);
}

TEST(GpuExchange, between_devices_is_refused_where_there_are_none) {
  comm::ThreadsTogether(2).run([](comm::Communicator& communicator) {
    Options options = options_for("cpu", 1);
    options.exchange = Exchange::device;
    options.communicator = &communicator;
    EXPECT_THAT([&] { compiled_training(options, compile::Adam{}, small_network(), tiny_types()); },
                ThrowsMessage<TargetError>(AllOf(
                    HasSubstr("processes are to exchange between devices on target 'cpu', which "
                              "cannot: it computes in the hosts' memory"),
                    HasSubstr("leave run.exchange out"))));
  });
}

/// One whose sums fail.
class Broken final : public comm::Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  const std::string& host(int) const override { return host_; }
  Ticket begin_sum(std::span<float>, NumberFormat) override { throw TargetError("the cable is gone"); }
  void wait(Ticket) override {}
  void gather(std::span<const std::byte>, std::span<std::byte>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  double waiting_seconds() const override { return 0; }
  double exchange_seconds() const override { return 0; }
  void set_longest_wait(double) override {}
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  std::string host_ = "node";
};

TEST(GpuExchange, by_the_host_that_fails_fails_the_run) {
  Broken broken;
  Options options = on_gpu(Exchange::host);
  options.communicator = &broken;
  TrainingModel training =
      compiled_training(options, compile::Adam{}, small_network(), tiny_types());
  const Batch batch = small_batch("any", 1, tiny_types());
  EXPECT_THAT([&] { training(batch.image, batch.label, 1e-3); },
              ThrowsMessage<TargetError>("the cable is gone"));
}

}  // namespace
}  // namespace cosmic::session
