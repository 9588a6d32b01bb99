#include "cli/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Words after those that matter to a test: mpirun is to notice when a host is gone.
std::vector<std::string> with_notice(std::vector<std::string> words) {
  const auto program = std::find(words.begin(), words.end(), "--tag-output");
  words.insert(program, {"--mca", "oob_tcp_keepalive_time", "6", "--mca", "oob_tcp_keepalive_intvl",
                         "3", "--mca", "oob_tcp_keepalive_probes", "3"});
  return words;
}

TEST(Launch, gives_each_process_cores_of_its_own) {
  const LaunchChoice choice{.instances = 4, .cores = 16};
  EXPECT_THAT(mpirun_words(choice, MpirunKind::open_mpi, "/bin/ct", {"train", "run.id=01"}),
              with_notice({"mpirun", "-n", "4", "--bind-to", "core", "--map-by", "ppr:4:node:PE=4",
                           "--tag-output", "/bin/ct", "train", "run.id=01"}));
  EXPECT_THAT(
      mpirun_words(choice, MpirunKind::hydra, "/bin/ct", {"train"}),
      ElementsAre("mpirun", "-n", "4", "-bind-to", "core:4", "-prepend-rank", "/bin/ct", "train"));
}

TEST(Launch, hands_replicas_on_as_a_setting) {
  const LaunchChoice choice{.instances = 2, .replicas = 3, .cores = 2};
  EXPECT_EQ(mpirun_words(choice, MpirunKind::open_mpi, "ct", {"train"}).back(), "run.replicas=3");
}

TEST(Launch, lets_processes_share_cores_where_there_are_too_few) {
  const LaunchChoice choice{.instances = 4, .cores = 2};
  EXPECT_THAT(mpirun_words(choice, MpirunKind::open_mpi, "ct", {"train"}),
              with_notice({"mpirun", "-n", "4", "--oversubscribe", "--bind-to", "none",
                           "--tag-output", "ct", "train"}));
  EXPECT_THAT(launch_table(choice), HasSubstr("shared"));
}

TEST(Launch, spreads_processes_evenly_over_hosts) {
  const LaunchChoice choice{.instances = 4, .hosts = {"a", "b"}, .cores = 8};
  EXPECT_THAT(mpirun_words(choice, MpirunKind::open_mpi, "ct", {"train"}),
              with_notice({"mpirun", "-n", "4", "--host", "a:8,b:8", "--bind-to", "core",
                           "--map-by", "ppr:2:node:PE=4", "--tag-output", "ct", "train"}));
  EXPECT_THAT(mpirun_words(choice, MpirunKind::hydra, "ct", {"train"}),
              ElementsAre("mpirun", "-n", "4", "-hosts", "a,b", "-ppn", "2", "-bind-to", "core:4",
                          "-prepend-rank", "ct", "train"));
  EXPECT_THAT(launch_table(choice),
              AllOf(HasSubstr("a                               1"),
                    HasSubstr("b                               2"),
                    HasSubstr("4 instances with 1 replica each work together, 4 in all")));
}

TEST(Launch, shows_the_device_that_each_process_will_take) {
  LaunchChoice choice{.instances = 4, .hosts = {"a", "b"}, .cores = 8, .compute_mode = "CPU"};
  EXPECT_EQ(device_of(choice, 3), "CPU");
  choice.compute_mode = "GPU";
  choice.devices = 2;
  EXPECT_EQ(device_of(choice, 2), "GPU 0");  // the first of host b
  EXPECT_EQ(device_of(choice, 3), "GPU 1");
  EXPECT_THAT(launch_table(choice),
              AllOf(HasSubstr("cores   device\n"), HasSubstr("4    GPU 1\n")));
  choice.devices = 1;  // run.exchange=host lets them share it
  EXPECT_EQ(device_of(choice, 3), "GPU 0");
  choice.devices = 4;
  choice.device = 2;  // run.device=2
  EXPECT_EQ(device_of(choice, 0), "GPU 2");
  choice.compute_mode.clear();
  EXPECT_EQ(device_of(choice, 0), "unknown");
}

TEST(Launch, refuses_hosts_that_cannot_have_as_many_processes_each) {
  EXPECT_THAT(
      [] {
        require_even({.instances = 3, .hosts = {"a", "b"}});
      },
      ThrowsMessage<UserError>(
          HasSubstr("--num-instances is 3 for 2 hosts (each gets as many); choose 2 or 4")));
  EXPECT_NO_THROW(require_even({.instances = 4, .hosts = {"a", "b"}}));
}

TEST(Launch, refuses_hosts_without_a_name_or_named_twice) {
  EXPECT_THAT(hosts_of(""), ElementsAre());
  EXPECT_THAT(hosts_of("a,b"), ElementsAre("a", "b"));
  for (const char* const text : {"a,,b", ",", "a,", ",a"}) {
    EXPECT_THAT([&] { hosts_of(text); },
                ThrowsMessage<UserError>(HasSubstr("has an empty name in it")))
        << text;
  }
  EXPECT_THAT(
      [] { hosts_of("a,b,a"); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("has 'a' twice"), HasSubstr("name it once"))));
}

TEST(Launch, refuses_commands_whose_processes_would_all_do_the_same_work) {
  for (const char* const command : {"generate", "explain", "launch", "nonsense"}) {
    EXPECT_THAT(
        [&] {
          require_shared_work({.instances = 2}, {command, "run.id=1"});
        },
        ThrowsMessage<UserError>(AllOf(HasSubstr("'" + std::string(command) + "'"),
                                       HasSubstr("train, infer, evaluate, tag, run do"))));
  }
  EXPECT_THAT([] { require_shared_work({.instances = 2}, {}); },
              ThrowsMessage<UserError>(HasSubstr("there is nothing to launch")));
  for (const char* const first : {"train", "infer", "evaluate", "tag", "run", "mode=train"}) {
    EXPECT_NO_THROW(require_shared_work({.instances = 2}, {first, "run.id=1"})) << first;
  }
}

TEST(Launch, refuses_replicas_that_a_command_has_not_or_that_are_given_twice) {
  const LaunchChoice choice{.instances = 2, .replicas = 3};
  EXPECT_NO_THROW(require_shared_work(choice, {"train", "run.id=1"}));
  EXPECT_THAT(
      [&] {
        require_shared_work(choice, {"infer", "run.id=1"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("--num-replicas is 3 for 'infer'"),
                                     HasSubstr("which only training has"))));
  EXPECT_THAT(
      [&] {
        require_shared_work(choice, {"train", "run.replicas=2"});
      },
      ThrowsMessage<UserError>(
          HasSubstr("--num-replicas is 3 for a training that is given run.replicas=2")));
}

}  // namespace
}  // namespace cosmic::cli
