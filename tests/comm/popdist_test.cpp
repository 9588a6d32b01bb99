#include "comm/popdist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/error.hpp"

namespace cosmic::comm::popdist {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Environment environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Popdist, of_a_process_that_poprun_did_not_start_is_one_instance_with_one_replica) {
  const Environment none = environment({});
  EXPECT_FALSE(is_environment_set(none));
  EXPECT_EQ(instance_index(none), 0);
  EXPECT_EQ(instances(none), 1);
  EXPECT_EQ(local_replicas(none), 1);
  EXPECT_EQ(total_replicas(none), 1);
}

TEST(Popdist, counts_instances_over_all_hosts_and_replicas_in_each) {
  // poprun --num-instances=4 --num-replicas=8 on two hosts: the second instance of the second.
  const Environment one = environment({{"POPDIST_NUM_TOTAL_REPLICAS", "8"},
                                       {"POPDIST_NUM_LOCAL_REPLICAS", "2"},
                                       {"POPDIST_REPLICA_INDEX_OFFSET", "6"},
                                       {"POPDIST_LOCAL_INSTANCE_INDEX", "1"}});
  EXPECT_TRUE(is_environment_set(one));
  EXPECT_EQ(instance_index(one), 3);
  EXPECT_EQ(instances(one), 4);
  EXPECT_EQ(local_replicas(one), 2);
  EXPECT_EQ(total_replicas(one), 8);
}

TEST(Popdist, whose_variables_make_no_sense_is_refused_with_the_variable) {
  EXPECT_THAT(
      [] {
        local_replicas(environment({{"POPDIST_NUM_LOCAL_REPLICAS", "two"}}));
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("POPDIST_NUM_LOCAL_REPLICAS is 'two'"))));
  EXPECT_THAT(
      [] {
        local_replicas(environment({{"POPDIST_NUM_LOCAL_REPLICAS", "0"}}));
      },
      ThrowsMessage<UserError>(HasSubstr("at least 1")));
  EXPECT_THAT(
      [] {
        total_replicas(environment(
            {{"POPDIST_NUM_TOTAL_REPLICAS", "5"}, {"POPDIST_NUM_LOCAL_REPLICAS", "2"}}));
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("TOTAL_REPLICAS is 5"), HasSubstr("is 2"))));
}

}  // namespace
}  // namespace cosmic::comm::popdist
