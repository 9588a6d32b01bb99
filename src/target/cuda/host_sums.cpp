#include "target/cuda/host_sums.hpp"

#include <exception>
#include <map>
#include <utility>

#include "target/cuda/device_memory.hpp"

namespace cosmic::target::cuda {
namespace {

class HostSums final : public ProcessSums {
 public:
  HostSums(std::shared_ptr<Device> device, comm::Communicator& communicator)
      : device_(std::move(device)), communicator_(communicator) {}

  /// Nothing is allocated while CUDA records.
  void get_ready(Queue&, std::span<const BeginSum> sums) override {
    for (const BeginSum& sum : sums) {
      Sum& own = sums_[sum.number];
      own.memory =
          std::make_unique<PinnedMemory>(device_, bytes_of(sum), "numbers on their way to others");
      own.add_up = [this, format = sum.format,
                    numbers = std::span(reinterpret_cast<float*>(own.memory->data()),
                                        static_cast<std::size_t>(sum.count))] {
        add_up_here(numbers, format);
      };
    }
  }

  void add_up(Queue& queue, const BeginSum& sum) override {
    const std::int64_t bytes = bytes_of(sum);
    const Sum& own = sums_.at(sum.number);
    queue.download(own.memory->data(), sum.numbers, bytes);
    queue.call(own.add_up);
    queue.upload(sum.numbers, own.memory->data(), bytes);
  }

  void require_done() override {
    if (const std::exception_ptr error = std::exchange(error_, nullptr)) {
      std::rethrow_exception(error);
    }
  }

 private:
  static std::int64_t bytes_of(const BeginSum& sum) {
    return sum.count * static_cast<std::int64_t>(sizeof(float));
  }

  struct Sum {
    std::unique_ptr<PinnedMemory> memory;
    std::function<void()> add_up;
  };

  /// Called by a thread of CUDA's, which must not see an exception; whoever waits for the run does.
  void add_up_here(std::span<float> numbers, NumberFormat format) {
    try {
      communicator_.wait(communicator_.begin_sum(numbers, format));
    } catch (...) {
      if (error_ == nullptr) {
        error_ = std::current_exception();
      }
    }
  }

  std::shared_ptr<Device> device_;  // shared with all that lives on it
  comm::Communicator& communicator_;
  std::map<int, Sum> sums_;  // by number; recordings know them by their addresses
  std::exception_ptr error_;
};

}  // namespace

std::shared_ptr<ProcessSums> sums_by_host(std::shared_ptr<Device> device,
                                          comm::Communicator& communicator) {
  return std::make_shared<HostSums>(std::move(device), communicator);
}

}  // namespace cosmic::target::cuda
