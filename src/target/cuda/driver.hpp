// What the target asks of CUDA: which devices there are, memory, and a queue of work. The answers
// come from cuda_driver.cu; tests give their own, so that all that can go wrong can be tried where
// there is no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.hpp"
#include "target/cuda/process_sums.hpp"
#include "target/cuda/work.hpp"

namespace cosmic::target::cuda {

/// How a call ended.
struct Answer {
  enum class Kind {
    ok,
    no_driver,
    driver_too_old,
    no_device,
    out_of_memory,
    device_lost,  ///< it fell off the bus, or an error left it unusable for this process
    failed,       ///< anything else
  };

  Kind kind = Kind::ok;
  std::string text = {};  ///< what CUDA calls it; empty when ok

  bool ok() const { return kind == Kind::ok; }
};

/// CUDA counts versions as 1000 * major + 10 * minor.
struct Presence {
  Answer answer;
  int devices = 0;
  int driver_version = 0;  ///< the newest CUDA that it supports; 0 for no driver
  int runtime_version = 0;
  std::optional<std::string> visible_devices = {};  ///< CUDA_VISIBLE_DEVICES, if it is set
};

struct DeviceFacts {
  int ordinal = 0;
  std::string name;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
  double clock_hz = 0;
  double memory_bytes_per_second = 0;  ///< 0 if the device does not say
  std::string bus_id = {};             ///< on the PCI bus, as NVML writes it
};

/// Of a device, right now.
struct FreeMemory {
  std::int64_t free = 0;
  std::int64_t total = 0;
};

/// Work that was recorded to be run again and again.
class Recording {
 public:
  virtual ~Recording() = default;
};

/// Runs what it is given in that order, beside the host. Nothing here throws or blocks but wait():
/// once something has failed, the rest is not begun, and wait() says what it was.
class Queue {
 public:
  virtual ~Queue() = default;  ///< waits
  /// The host's memory stays as it is until wait().
  virtual void upload(void* device, const void* host, std::int64_t bytes) = 0;
  virtual void download(void* host, const void* device, std::int64_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;  ///< both on devices
  virtual void run(const Work& work) = 0;
  /// The host calls it when the queue gets here, in a thread of its own; the queue goes on when it
  /// returns. It does not throw and gives no work to devices. There as long as what was recorded.
  virtual void call(const std::function<void()>& function) = 0;
  /// Sums over processes are made by `sums`, beside the kernels between their begin and their end;
  /// null where there are none. Null if that failed.
  virtual std::unique_ptr<Recording> record(std::span<const Deed> deeds,
                                            ProcessSums* sums = nullptr) = 0;
  virtual void replay(const Recording& recording) = 0;
  /// Notes when the queue gets here. Marks are numbered from 0 up to those it was made with.
  virtual void mark(int number) = 0;
  /// What is given to this queue from now on begins when `other`, of the same device, has passed
  /// its mark. What went wrong there went wrong here too.
  virtual void after(const Queue& other, int mark) = 0;
  /// Between two marks, after wait().
  virtual double seconds_between(int from, int to) const = 0;
  virtual Answer wait() = 0;
  /// Waits only until the queue has passed the mark, unless something has failed.
  virtual Answer wait_for(int mark) = 0;
  /// CUDA's own stream, for libraries that take one; null where the device is none of CUDA's.
  virtual void* stream() const { return nullptr; }
};

/// Memory, or why there is none: not always because it is full.
struct Allocation {
  std::byte* memory = nullptr;  ///< null unless the answer is ok
  Answer answer = {};
};

/// Threads may share it, each with queues of its own.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceFacts& facts() const = 0;
  virtual FreeMemory free_memory() const = 0;
  /// Zeros on 256-byte boundaries. Another thread may be recording meanwhile.
  virtual Allocation allocate(std::int64_t bytes) = 0;
  virtual void release(std::byte* memory) = 0;
  /// Memory of the host that the device fetches by itself, zeros.
  virtual Allocation allocate_pinned(std::int64_t bytes) = 0;
  virtual void release_pinned(std::byte* memory) = 0;
  virtual std::unique_ptr<Queue> make_queue(int marks) = 0;
  /// Sums straight between this device and those of the other processes, each of which calls this
  /// with the same communicator, which outlives the result. Throws TargetError that says what is
  /// missing where.
  virtual std::shared_ptr<ProcessSums> connect(comm::Communicator& communicator) = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual Presence presence() const = 0;
  /// Of one of the devices that are there.
  virtual DeviceFacts facts(int ordinal) const = 0;
  virtual std::shared_ptr<Device> open(int ordinal) const = 0;
};

}  // namespace cosmic::target::cuda
