#include "comm/launcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace cosmic::comm {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Launch launch_with(const Variables& variables) {
  return launch_of_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, of_nobody_leaves_no_evidence) {
  const Launch launch = launch_with({});
  EXPECT_FALSE(launch.several);
  EXPECT_EQ(launch.evidence, "");
}

TEST(Launcher, of_poprun_was_not_noticed) {
  const Launch four =
      launch_with({{"POPDIST_NUM_TOTAL_REPLICAS", "4"}, {"POPDIST_NUM_LOCAL_REPLICAS", "1"}});
  EXPECT_TRUE(four.several);
  EXPECT_EQ(four.evidence, "POPDIST_NUM_TOTAL_REPLICAS is 4");
  EXPECT_TRUE(launch_with({{"POPDIST_LOCAL_INSTANCE_INDEX", "1"}}).several);
  EXPECT_EQ(launch_with({{"POPDIST_NUM_TOTAL_REPLICAS", "1"},
                         {"POPDIST_LOCAL_INSTANCE_INDEX", "0"},
                         {"POPDIST_REPLICA_INDEX_OFFSET", "0"}})
                .evidence,
            "");
}

TEST(Launcher, with_several_replicas_in_one_process_starts_one_process) {
  EXPECT_FALSE(
      launch_with({{"POPDIST_NUM_TOTAL_REPLICAS", "4"}, {"POPDIST_NUM_LOCAL_REPLICAS", "4"}})
          .several);
}

TEST(Launcher, of_flux_says_how_many_there_are) {
  EXPECT_EQ(launch_with({{"FLUX_JOB_SIZE", "8"}, {"FLUX_TASK_RANK", "0"}}).evidence,
            "FLUX_JOB_SIZE is 8");
  EXPECT_TRUE(launch_with({{"FLUX_TASK_RANK", "3"}}).several);
  EXPECT_EQ(launch_with({{"FLUX_JOB_SIZE", "1"}, {"FLUX_TASK_RANK", "0"}}).evidence, "");
}

TEST(Launcher, of_pals_was_not_noticed) {
  EXPECT_TRUE(launch_with({{"PALS_RANKID", "3"}, {"PALS_LOCAL_RANKID", "0"}}).several);
  EXPECT_EQ(launch_with({{"PALS_RANKID", "0"}, {"PALS_LOCAL_SIZE", "12"}}).evidence,
            "PALS_LOCAL_SIZE is 12");
  EXPECT_EQ(launch_with({{"PALS_LOCAL_RANKID", "2"}}).evidence, "PALS_LOCAL_RANKID is 2");
  // PALS does not say how many there are, so the first one cannot know whether it is alone.
  const Launch first = launch_with({{"PALS_RANKID", "0"}, {"PALS_LOCAL_RANKID", "0"}});
  EXPECT_FALSE(first.several);
  EXPECT_THAT(first.evidence, HasSubstr("PALS_RANKID is 0, and nothing says how many"));
}

TEST(Launcher, of_mpi_says_how_many_there_are) {
  for (const char* const size :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"}) {
    EXPECT_TRUE(launch_with({{size, "2"}}).several) << size;
    EXPECT_EQ(launch_with({{size, "1"}}).evidence, "") << size;
  }
  EXPECT_TRUE(launch_with({{"PMI_RANK", "5"}}).several);
  EXPECT_EQ(launch_with({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}).evidence, "");
}

std::string advice_with(const Variables& variables) {
  return advice_on_lost_hosts([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, of_open_mpi_is_to_be_told_to_notice_lost_hosts) {
  EXPECT_EQ(advice_with({{"OMPI_COMM_WORLD_SIZE", "2"}}),
            "mpirun itself would not notice for minutes that a host is gone (the processes do, and "
            "end); give it --mca oob_tcp_keepalive_time 6 --mca oob_tcp_keepalive_intvl 3 --mca "
            "oob_tcp_keepalive_probes 3, as `cosmictagger launch` does");
  EXPECT_EQ(advice_with({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_MCA_oob_tcp_keepalive_time", "10"}}),
            "");
  EXPECT_EQ(advice_with({{"SLURM_NTASKS", "2"}}), "");
}

TEST(Launcher, says_which_process_this_is) {
  const auto rank_with = [](const std::map<std::string, std::string>& variables) {
    return rank_of_environment([&](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_EQ(rank_with({}), 0);
  EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_RANK", "3"}}), 3);
  EXPECT_EQ(rank_with({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}), 2);
  EXPECT_EQ(rank_with({{"PALS_RANKID", "1"}}), 1);
  EXPECT_EQ(rank_with({{"FLUX_TASK_RANK", "5"}}), 5);
  // Of the task, not of the node that a batch script runs on.
  EXPECT_EQ(rank_with({{"SLURM_PROCID", "4"}, {"SLURM_LOCALID", "0"}}), 4);
}

TEST(Launcher, whose_variables_are_no_numbers_is_none) {
  EXPECT_EQ(launch_with({{"PMI_SIZE", "many"}, {"PALS_RANKID", ""}}).evidence, "");
}

}  // namespace
}  // namespace cosmic::comm
