#include "target/cuda/device_memory.hpp"

#include <utility>

#include "target/cuda/failures.hpp"

namespace cosmic::target::cuda {

DeviceMemory::DeviceMemory(std::shared_ptr<Device> device, std::int64_t bytes,
                           const std::string& what)
    : device_(std::move(device)), bytes_(bytes) {
  if (bytes_ == 0) {
    return;
  }
  const Allocation made = device_->allocate(bytes_);
  if (made.answer.kind == Answer::Kind::out_of_memory) {
    throw out_of_memory(*device_, what, bytes_);
  }
  require(made.answer, device_->facts(), "the allocation of " + what);
  memory_ = made.memory;
}

DeviceMemory::~DeviceMemory() {
  if (memory_ != nullptr) {
    device_->release(memory_);
  }
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : device_(std::move(other.device_)),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedMemory::PinnedMemory(std::shared_ptr<Device> device, std::int64_t bytes,
                           const std::string& what)
    : device_(std::move(device)) {
  if (bytes == 0) {
    return;
  }
  const Allocation made = device_->allocate_pinned(bytes);
  COSMIC_REQUIRE(TargetError, made.answer.kind != Answer::Kind::out_of_memory,
                 "this machine has no " << bytes << " bytes of memory that can be pinned for "
                                        << what << "; lower run.minibatch_size, or allow more "
                                        << "locked memory (`ulimit -l`)");
  require(made.answer, device_->facts(), "the allocation of pinned memory for " + what);
  memory_ = made.memory;
}

PinnedMemory::~PinnedMemory() {
  if (memory_ != nullptr) {
    device_->release_pinned(memory_);
  }
}

}  // namespace cosmic::target::cuda
