// How processes with GPUs find each other, and what they say if they cannot. NCCL is played by the
// test: it needs no GPU.
#include "target/cuda/nccl_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "comm/alone.hpp"
#include "comm/threads_together.hpp"
#include "core/error.hpp"
#include "target/cuda/host_driver.hpp"

namespace cosmic::target::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

class PlayedNccl final : public NcclLibrary {
 public:
  explicit PlayedNccl(Support usable = Support::yes()) : usable_(std::move(usable)) {}

  Support usable() const override { return usable_; }
  Id make_id() override {
    Id id{};
    id.front() = std::byte{17};
    return id;
  }
  std::unique_ptr<NcclGroup> join(const Id& id, int rank, int size, int device) override {
    joined = "id " + std::to_string(std::to_integer<int>(id.front())) + ", " +
             std::to_string(rank) + " of " + std::to_string(size) + " with device " +
             std::to_string(device);
    return std::make_unique<Group>(*this);
  }

  std::string joined;
  std::string failure;
  std::vector<std::int64_t> counts;  ///< of the sums that were asked for

 private:
  class Group final : public NcclGroup {
   public:
    explicit Group(PlayedNccl& library) : library_(library) {}
    std::string add_up(float*, std::int64_t count, void*) override {
      library_.counts.push_back(count);
      return library_.failure;
    }
    std::string error() override { return library_.failure; }

   private:
    PlayedNccl& library_;
  };

  Support usable_;
};

DeviceFacts card(const std::string& bus_id, int ordinal) {
  DeviceFacts facts;
  facts.ordinal = ordinal;
  facts.name = "NVIDIA H200";
  facts.bus_id = bus_id;
  return facts;
}

TEST(NcclSums, join_all_processes_in_the_group_that_the_first_has_made) {
  std::mutex mutex;
  std::vector<std::string> joined;
  comm::ThreadsTogether(2, "node").run([&](comm::Communicator& communicator) {
    const auto nccl = std::make_shared<PlayedNccl>();
    const int rank = communicator.rank();
    const auto sums =
        connect_by_nccl(nccl, card("00000000:1" + std::to_string(rank), rank), communicator);
    ASSERT_NE(sums, nullptr);
    const std::lock_guard lock(mutex);
    joined.push_back(nccl->joined);
  });
  EXPECT_THAT(joined,
              UnorderedElementsAre("id 17, 0 of 2 with device 0", "id 17, 1 of 2 with device 1"));
}

TEST(NcclSums, are_refused_in_all_processes_if_one_has_no_library) {
  comm::ThreadsTogether(2).run([](comm::Communicator& communicator) {
    const auto nccl = std::make_shared<PlayedNccl>(
        communicator.rank() == 0
            ? Support::yes()
            : nccl_usable(std::nullopt, "libnccl.so.2: cannot open shared object file"));
    EXPECT_THAT([&] { connect_by_nccl(nccl, card("00000000:18:00.0", 0), communicator); },
                ThrowsMessage<TargetError>(
                    AllOf(HasSubstr("rank 1 on host host1 cannot add up with the others: NCCL, "
                                    "which adds up between GPUs, cannot be loaded: libnccl.so.2: "
                                    "cannot open shared object file"),
                          HasSubstr("install it (libnccl2), or name its folder in "
                                    "LD_LIBRARY_PATH, or say run.exchange=host"))));
  });
}

TEST(NcclSums, are_refused_with_a_library_that_is_too_old) {
  EXPECT_TRUE(nccl_usable(22809, "").ok);
  EXPECT_TRUE(nccl_usable(20900, "").ok);
  EXPECT_THAT(nccl_usable(2804, "").why_not,
              AllOf(HasSubstr("its NCCL is version 2.8.4"), HasSubstr("from 2.9.0 on"),
                    HasSubstr("run.exchange=host")));
}

TEST(NcclSums, are_refused_where_two_processes_share_a_card) {
  comm::ThreadsTogether(3, "node").run([](comm::Communicator& communicator) {
    const DeviceFacts own =
        communicator.rank() == 1 ? card("00000000:19:00.0", 1) : card("00000000:18:00.0", 0);
    EXPECT_THAT([&] { connect_by_nccl(std::make_shared<PlayedNccl>(), own, communicator); },
                ThrowsMessage<TargetError>(
                    AllOf(HasSubstr("rank 0 and rank 2 on host node share a GPU, 00000000:18:00.0"),
                          HasSubstr("leave run.device out, or say run.exchange=host"))));
  });
}

TEST(NcclSums, of_cards_with_the_same_place_on_two_hosts_are_no_trouble) {
  comm::ThreadsTogether(2).run([](comm::Communicator& communicator) {
    EXPECT_NE(
        connect_by_nccl(std::make_shared<PlayedNccl>(), card("00000000:18:00.0", 0), communicator),
        nullptr);
  });
}

TEST(NcclSums, are_made_once_before_they_are_recorded_and_say_what_went_wrong) {
  comm::Alone alone;
  const auto nccl = std::make_shared<PlayedNccl>();
  const auto sums = connect_by_nccl(nccl, card("00000000:18:00.0", 0), alone);
  const std::unique_ptr<Queue> queue =
      host_driver(std::make_shared<HostMachine>())->open(0)->make_queue(0);
  const std::vector<BeginSum> all{{nullptr, 7, 0}, {nullptr, 1000, 1}};
  sums->get_ready(*queue, all);
  EXPECT_EQ(nccl->counts, (std::vector<std::int64_t>{7, 1000}));
  sums->require_done();
  nccl->failure = "remote process exited or there was a network error";
  EXPECT_THAT([&] { sums->require_done(); },
              ThrowsMessage<TargetError>(
                  AllOf(HasSubstr("rank 0 on host this host cannot add up with the others: NCCL "
                                  "says remote process exited"),
                        HasSubstr("go on from the newest checkpoint"))));
}

}  // namespace
}  // namespace cosmic::target::cuda
