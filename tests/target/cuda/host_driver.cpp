#include "target/cuda/host_driver.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "target/cuda/launch_geometry.hpp"

namespace cosmic::target::cuda {
namespace {

constexpr int kWarp = 32;

/// From the last element to the first: whoever relies on an order of the threads is found.
template <class Body>
void run_on_host(const Map<Body>& map) {
  if (map.guard != nullptr && !is_finite(*map.guard)) {
    return;
  }
  for (std::int64_t i = map.elements; i-- > 0;) {
    map.body(i);
  }
}

/// As join_threads() of launch.cuh: a tree within each warp, then the warps in their order.
template <int kSums>
void join_threads(const std::vector<std::array<double, kSums>>& threads, double* sums) {
  for (int k = 0; k < kSums; ++k) {
    sums[k] = 0;
    for (int warp = 0; warp < kThreadsPerBlock; warp += kWarp) {
      double lanes[kWarp];
      for (int lane = 0; lane < kWarp; ++lane) {
        lanes[lane] = threads[static_cast<std::size_t>(warp + lane)][static_cast<std::size_t>(k)];
      }
      for (int apart = kWarp / 2; apart > 0; apart /= 2) {
        for (int lane = 0; lane < apart; ++lane) {
          lanes[lane] += lanes[lane + apart];
        }
      }
      sums[k] = warp == 0 ? lanes[0] : sums[k] + lanes[0];
    }
  }
}

template <class Body>
void run_on_host(const Reduction<Body>& work) {
  constexpr int kSums = Body::kSums;
  const ReductionGeometry geometry = reduction_geometry(work.outputs, work.terms);
  for (std::int64_t block = 0; block < work.outputs * geometry.chunks; ++block) {
    const std::int64_t output = block / geometry.chunks;
    const std::int64_t begin = block % geometry.chunks * geometry.terms_per_chunk;
    const std::int64_t end = std::min(begin + geometry.terms_per_chunk, work.terms);
    std::vector<std::array<double, kSums>> threads(kThreadsPerBlock);
    const auto context = work.body.at(output);
    for (int thread = 0; thread < kThreadsPerBlock; ++thread) {
      std::int64_t term = begin + thread;
      while (term < end) {
        float part[kSums] = {};
        for (std::int64_t k = 0; k < kTermsPerSum && term < end; ++k, term += kThreadsPerBlock) {
          work.body.add(context, term, part);
        }
        for (std::size_t k = 0; k < kSums; ++k) {
          threads[static_cast<std::size_t>(thread)][k] += static_cast<double>(part[k]);
        }
      }
    }
    double sums[kSums];
    join_threads<kSums>(threads, sums);
    if (geometry.chunks == 1) {
      work.body.finish(output, sums);
    } else {
      std::copy_n(sums, kSums, work.partials + block * kSums);
    }
  }
  for (std::int64_t output = 0; geometry.chunks > 1 && output < work.outputs; ++output) {
    std::vector<std::array<double, kSums>> threads(kThreadsPerBlock);
    for (std::int64_t chunk = 0; chunk < geometry.chunks; ++chunk) {
      for (std::int64_t k = 0; k < kSums; ++k) {
        threads[static_cast<std::size_t>(chunk % kThreadsPerBlock)][static_cast<std::size_t>(k)] +=
            work.partials[(output * geometry.chunks + chunk) * kSums + k];
      }
    }
    double sums[kSums];
    join_threads<kSums>(threads, sums);
    work.body.finish(output, sums);
  }
}

void run_on_host(const Work& work) {
  std::visit([](const auto& one) { run_on_host(one); }, work);
}

struct HostRecording final : Recording {
  std::vector<Work> works;
};

class HostQueue final : public Queue {
 public:
  HostQueue(std::shared_ptr<HostMachine> machine, int marks)
      : machine_(std::move(machine)), marks_(static_cast<std::size_t>(marks)) {}
  ~HostQueue() override { catch_up(); }
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;

  void upload(void* device, const void* host, std::int64_t bytes) override {
    write_down("upload ", bytes);
    machine_->bytes_uploaded += bytes;
    copy(device, host, bytes);
  }
  void download(void* host, const void* device, std::int64_t bytes) override {
    copy(host, device, bytes);
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    do_in_turn([=] {
      if (bytes > 0) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
      }
    });
  }
  void run(const Work& work) override {
    ++machine_->works_outside_recordings;
    worked_ = true;
    do_in_turn([work] { run_on_host(work); });
  }
  std::unique_ptr<Recording> record(std::span<const Work> works) override {
    auto recording = std::make_unique<HostRecording>();
    recording->works.assign(works.begin(), works.end());
    return recording;
  }
  void replay(const Recording& recording) override {
    write_down("replay");
    ++machine_->replays;
    worked_ = true;
    do_in_turn([&recording] {
      for (const Work& work : static_cast<const HostRecording&>(recording).works) {
        run_on_host(work);
      }
    });
  }
  void mark(int number) override {
    do_in_turn([this, number] {
      marks_.at(static_cast<std::size_t>(number)) = std::chrono::steady_clock::now();
    });
  }
  void after(const Queue& other, int) override {
    do_in_turn([&other] { static_cast<const HostQueue&>(other).catch_up(); });
  }
  double seconds_between(int from, int to) const override {
    return std::chrono::duration<double>(marks_.at(static_cast<std::size_t>(to)) -
                                         marks_.at(static_cast<std::size_t>(from)))
        .count();
  }
  Answer wait() override {
    write_down("wait");
    catch_up();
    return std::exchange(worked_, false) ? machine_->end_of_work : Answer{};
  }

 private:
  void write_down(const char* what, std::optional<std::int64_t> bytes = {}) {
    if (machine_->writes_down) {
      machine_->given.push_back(what + (bytes ? std::to_string(*bytes) : std::string()));
    }
  }

  template <class Todo>
  void do_in_turn(const Todo& todo) {
    if (machine_->works_late) {
      todo_.push_back(todo);
    } else {
      todo();
    }
  }

  /// Does all that it was given. Of a queue that another waits for as well, although it knows it as
  /// one that it cannot give work to.
  void catch_up() const {
    for (const std::function<void()>& todo : std::exchange(todo_, {})) {
      todo();
    }
  }

  std::shared_ptr<HostMachine> machine_;  // shared with the test
  std::vector<std::chrono::steady_clock::time_point> marks_;
  mutable std::vector<std::function<void()>> todo_;
  bool worked_ = false;
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(std::shared_ptr<HostMachine> machine) : machine_(std::move(machine)) {}

  const DeviceFacts& facts() const override { return machine_->facts; }
  FreeMemory free_memory() const override {
    return {machine_->facts.memory_bytes - machine_->used_by_others - machine_->allocated,
            machine_->facts.memory_bytes};
  }
  std::byte* allocate(std::int64_t bytes) override {
    if (bytes > free_memory().free) {
      return nullptr;
    }
    std::byte* const memory = allocate_pinned(bytes);
    machine_->allocated += bytes;
    sizes_[memory] = bytes;
    return memory;
  }
  void release(std::byte* memory) override {
    machine_->allocated -= sizes_.at(memory);
    sizes_.erase(memory);
    release_pinned(memory);
  }
  std::byte* allocate_pinned(std::int64_t bytes) override {
    ++machine_->allocations;
    const auto size = static_cast<std::size_t>((bytes + 255) / 256 * 256);
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(256, size));
    std::memset(memory, 0, size);
    return memory;
  }
  void release_pinned(std::byte* memory) override { std::free(memory); }
  std::unique_ptr<Queue> make_queue(int marks) override {
    return std::make_unique<HostQueue>(machine_, marks);
  }

 private:
  std::shared_ptr<HostMachine> machine_;  // shared with the test
  std::map<std::byte*, std::int64_t> sizes_;
};

class HostDriver final : public Driver {
 public:
  explicit HostDriver(std::shared_ptr<HostMachine> machine) : machine_(std::move(machine)) {}

  Presence presence() const override { return machine_->presence; }
  DeviceFacts facts(int ordinal) const override {
    DeviceFacts facts = machine_->facts;
    facts.ordinal = ordinal;
    return facts;
  }
  std::shared_ptr<Device> open(int) const override {
    return std::make_shared<HostDevice>(machine_);
  }

 private:
  std::shared_ptr<HostMachine> machine_;  // shared with the test
};

}  // namespace

std::shared_ptr<const Driver> host_driver(std::shared_ptr<HostMachine> machine) {
  return std::make_shared<HostDriver>(std::move(machine));
}

}  // namespace cosmic::target::cuda
