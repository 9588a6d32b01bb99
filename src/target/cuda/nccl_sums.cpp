#include "target/cuda/nccl_sums.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "target/cuda/failures.hpp"

namespace cosmic::target::cuda {
namespace {

/// The first whose sums can be recorded in CUDA graphs.
constexpr int kOldestVersion = 20900;

/// NCCL counts versions as 10000 * major + 100 * minor + patch, and up to 2.8 with 1000.
std::string nccl_version_text(int version) {
  const int of_major = version < 10000 ? 1000 : 10000;
  return std::to_string(version / of_major) + "." + std::to_string(version % of_major / 100) + "." +
         std::to_string(version % 100);
}

/// What a process tells the others before it joins them.
struct Introduction {
  std::array<char, 480> why_not{};  ///< empty for one that can
  std::array<char, 32> bus_id{};
};

template <std::size_t kSize>
void write_text(std::string_view text, std::array<char, kSize>& place) {
  std::copy_n(text.begin(), std::min(text.size(), kSize - 1), place.begin());
}

std::string name_of(const comm::Communicator& communicator, int rank) {
  return "rank " + std::to_string(rank) + " on host " + communicator.host(rank);
}

std::vector<Introduction> introduce(comm::Communicator& communicator, const Support& usable,
                                    const DeviceFacts& device) {
  Introduction own;
  write_text(usable.ok ? "" : usable.why_not, own.why_not);
  write_text(device.bus_id, own.bus_id);
  std::vector<Introduction> all(static_cast<std::size_t>(communicator.size()));
  communicator.gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

/// NCCL's own words for it are "invalid usage".
void require_devices_of_their_own(const std::vector<Introduction>& all,
                                  const comm::Communicator& communicator,
                                  const DeviceFacts& device) {
  const auto rank_of = [](std::size_t i) { return static_cast<int>(i); };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool shared = all[i].bus_id == all[k].bus_id &&
                          communicator.host(rank_of(i)) == communicator.host(rank_of(k));
      COSMIC_REQUIRE(TargetError, !shared,
                     "rank " << k << " and rank " << i << " on host "
                             << communicator.host(rank_of(k)) << " share a GPU, "
                             << all[k].bus_id.data() << ", of the kind " << device.name
                             << " (NCCL adds up over processes that have one each); start as many "
                                "processes on a host as it has GPUs and leave run.device out, or "
                                "say run.exchange=host to exchange through the hosts' memory");
    }
  }
}

class NcclSums final : public ProcessSums {
 public:
  NcclSums(std::shared_ptr<NcclLibrary> library, std::unique_ptr<NcclGroup> group,
           std::string process)
      : library_(std::move(library)), group_(std::move(group)), process_(std::move(process)) {}

  /// NCCL connects when it first adds up so many numbers; that is no part of a recording.
  void get_ready(Queue& queue, std::span<const BeginSum> sums) override {
    for (const BeginSum& sum : sums) {
      COSMIC_REQUIRE(
          TargetError, sum.format == NumberFormat::f32,
          "run.exchange_precision=bfloat16 between GPUs (sums by NCCL are made of float32 "
          "here, so it would change results and save nothing); leave it out, or say "
          "run.exchange=host to exchange through the hosts' memory");
      add_up(queue, sum);
    }
  }
  void add_up(Queue& queue, const BeginSum& sum) override {
    require(group_->add_up(sum.numbers, sum.count, queue.stream()));
  }
  void require_done() override { require(group_->error()); }

 private:
  void require(const std::string& error) const {
    COSMIC_REQUIRE(TargetError, error.empty(),
                   process_ << " cannot add up with the others: NCCL says " << error
                            << " (a process or a link between GPUs may be gone; NCCL_DEBUG=WARN in "
                               "the environment makes it say more); look at the messages of the "
                               "other processes, and run the command again to go on from the "
                               "newest checkpoint");
  }

  std::shared_ptr<NcclLibrary> library_;  // shared with other groups
  std::unique_ptr<NcclGroup> group_;
  std::string process_;
};

}  // namespace

Support nccl_usable(const std::optional<int>& version, const std::string& why_not_loaded) {
  const std::string otherwise = ", or say run.exchange=host to exchange through the hosts' memory";
  if (!version) {
    return Support::no("NCCL, which adds up between GPUs, cannot be loaded: " + why_not_loaded +
                       "; install it (libnccl2), or name its folder in LD_LIBRARY_PATH" +
                       otherwise);
  }
  if (*version < kOldestVersion) {
    return Support::no("its NCCL is version " + nccl_version_text(*version) +
                       ", and sums are parts of CUDA graphs from " +
                       nccl_version_text(kOldestVersion) + " on; install a newer one (libnccl2)" +
                       otherwise);
  }
  return Support::yes();
}

std::shared_ptr<ProcessSums> connect_by_nccl(std::shared_ptr<NcclLibrary> library,
                                             const DeviceFacts& device,
                                             comm::Communicator& communicator) {
  const std::vector<Introduction> all = introduce(communicator, library->usable(), device);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view why_not = all[i].why_not.data();
    COSMIC_REQUIRE(TargetError, why_not.empty(),
                   name_of(communicator, static_cast<int>(i))
                       << " cannot add up with the others: " << why_not);
  }
  require_devices_of_their_own(all, communicator, device);
  NcclLibrary::Id id{};
  if (communicator.rank() == 0) {
    id = library->make_id();
  }
  communicator.broadcast(id, 0);
  std::unique_ptr<NcclGroup> group =
      library->join(id, communicator.rank(), communicator.size(), device.ordinal);
  return std::make_shared<NcclSums>(std::move(library), std::move(group),
                                    name_of(communicator, communicator.rank()));
}

}  // namespace cosmic::target::cuda
