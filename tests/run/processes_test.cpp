#include "run/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/threads_together.hpp"
#include "config/configuration.hpp"
#include "core/error.hpp"

namespace cosmic::run {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(RunProcesses, of_one_that_is_alone_have_what_it_has) {
  const Processes alone;
  EXPECT_TRUE(alone.lead());
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.of_leader("own"), "own");
  EXPECT_THAT(alone.gather(7), ElementsAre(7));
  EXPECT_THAT(alone.gather_texts("own"), ElementsAre("own"));
  EXPECT_GE(alone.threads(0), 1);
  EXPECT_EQ(alone.description(), "");
}

TEST(RunProcesses, have_what_the_leader_has_and_what_each_has) {
  comm::ThreadsTogether(3).run([](comm::Communicator& communicator) {
    const Processes processes(&communicator);
    const int rank = communicator.rank();
    EXPECT_EQ(processes.lead(), rank == 0);
    EXPECT_EQ(processes.of_leader("of " + std::to_string(rank)), "of 0");
    EXPECT_EQ(processes.of_leader(rank == 0 ? "" : "something"), "");
    EXPECT_THAT(processes.gather(10 * rank), ElementsAre(0, 10, 20));
    EXPECT_THAT(processes.gather_texts(std::string(static_cast<std::size_t>(rank), 'x')),
                ElementsAre("", "x", "xx"));
    EXPECT_EQ(processes.name(2), "rank 2 on host host2");
    EXPECT_EQ(processes.description(),
              "3 processes work together: 1 on host0, 1 on host1, 1 on host2");
    EXPECT_EQ(processes.threads(4), 4);
    EXPECT_GE(processes.threads(0), 1);
  });
}

TEST(RunProcesses, take_a_device_each_unless_one_is_asked_for) {
  EXPECT_EQ(Processes().device(config::kAutomaticDevice, 4, Sharing::refused), 0);
  EXPECT_EQ(Processes().device(3, 4, Sharing::refused), 3);
  comm::ThreadsTogether(3, "node").run([](comm::Communicator& communicator) {
    const Processes processes(&communicator);
    EXPECT_EQ(processes.device(config::kAutomaticDevice, 4, Sharing::refused), communicator.rank());
    EXPECT_EQ(processes.device(2, 4, Sharing::refused), 2);
    EXPECT_EQ(processes.device(config::kAutomaticDevice, 2, Sharing::allowed),
              communicator.rank() % 2);
    EXPECT_EQ(processes.device(config::kAutomaticDevice, std::nullopt, Sharing::refused), 0);
    EXPECT_EQ(processes.device(config::kAutomaticDevice, "cpu", Sharing::refused), 0);
  });
}

TEST(RunProcesses, that_are_more_than_devices_say_what_to_do) {
  comm::ThreadsTogether(3, "node").run([](comm::Communicator& communicator) {
    EXPECT_THAT(
        [&] { Processes(&communicator).device(config::kAutomaticDevice, 2, Sharing::refused); },
        ThrowsMessage<UserError>(AllOf(
            HasSubstr("3 processes on host node are to train on its 2 devices (each takes one"),
            HasSubstr("start at most 2 on this host, or say run.exchange=host"))));
  });
}

TEST(RunProcesses, divide_a_batch_or_say_which_ones_they_can) {
  EXPECT_EQ(events_per_replica(12, 3, 2), 2);
  EXPECT_THAT([] { events_per_replica(13, 3, 2); },
              ThrowsMessage<UserError>(HasSubstr(
                  "run.minibatch_size is 13 for 3 processes with 2 replicas each (every replica "
                  "takes an equal part of a batch); choose 12 or 18")));
  EXPECT_THAT([] { events_per_replica(1, 1, 8); },
              ThrowsMessage<UserError>(HasSubstr("1 process with 8 replicas each (every replica "
                                                 "takes an equal part of a batch); choose 8")));
}

}  // namespace
}  // namespace cosmic::run
