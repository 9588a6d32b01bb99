#include "run/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/threads_together.hpp"
#include "config/configuration.hpp"
#include "core/error.hpp"
#include "run/same_everywhere.hpp"

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

/// What each of three processes says, of which one has other settings, or other events.
template <class Setting>
void expect_refused(const Setting& require, const testing::Matcher<std::string>& text) {
  comm::ThreadsTogether(3).run([&](comm::Communicator& communicator) {
    EXPECT_THAT([&] { require(Processes(&communicator)); }, ThrowsMessage<UserError>(text));
  });
}

TEST(RunProcesses, with_other_settings_than_the_first_are_refused_by_all_with_both_values) {
  expect_refused(
      [](const Processes& processes) {
        config::Configuration own;
        own.run.id = "one";
        own.run.minibatch_size = processes.rank() == 2 ? 4 : 12;
        own.data.downsample = processes.rank() == 2 ? 0 : 1;
        require_same_settings(processes, own);
      },
      AllOf(HasSubstr("rank 2 on host host2 has other settings than rank 0: "),
            HasSubstr("run.minibatch_size is '4' there and '12' on rank 0"),
            HasSubstr(", data.downsample is '0' there and '1' on rank 0 (")));
}

TEST(RunProcesses, may_each_have_a_device_and_threads_of_their_own) {
  comm::ThreadsTogether(2).run([](comm::Communicator& communicator) {
    config::Configuration own;
    own.run.id = "one";
    own.run.device = communicator.rank();
    own.run.threads = 1 + communicator.rank();
    own.data.threads = 1 + communicator.rank();
    EXPECT_NO_THROW(require_same_settings(Processes(&communicator), own));
  });
}

TEST(RunProcesses, with_other_events_than_the_first_are_refused_by_all_with_both_numbers) {
  using Parts = std::vector<data::SourcePart>;
  expect_refused(
      [](const Processes& processes) {
        const std::int64_t events = processes.rank() == 1 ? 20 : 29;
        require_same_events(processes, Parts{{"a.h5", 0, 7}, {"b.h5", 7, 7 + events}}, "training");
      },
      HasSubstr("rank 1 on host host1 has 20 events for training in b.h5, and rank 0 has 29 "
                "events (each process reads its part of the same events)"));
  expect_refused(
      [](const Processes& processes) {
        require_same_events(processes, processes.rank() == 1 ? Parts{} : Parts{{"a.h5", 0, 7}},
                            "validation");
      },
      HasSubstr("rank 1 on host host1 finds 0 files of events for validation, and rank 0 1 ("));
  comm::ThreadsTogether(2).run([](comm::Communicator& communicator) {
    const std::string name = communicator.rank() == 0 ? "here.h5" : "there.h5";
    const Processes processes(&communicator);
    EXPECT_NO_THROW(require_same_events(processes, {{name, 0, 7}}, "training"));
    EXPECT_NO_THROW(require_same_events(processes, {}, "validation"));
  });
}

}  // namespace
}  // namespace cosmic::run
