#include "target/cuda/cuda_driver.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/error.hpp"
#include "target/cuda/launch.hpp"
#include "target/cuda/nccl_sums.hpp"

namespace cosmic::target::cuda {
namespace {

Answer::Kind kind_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return Answer::Kind::ok;
    case cudaErrorInsufficientDriver:
      return Answer::Kind::driver_too_old;
    case cudaErrorNoDevice:
      return Answer::Kind::no_device;
    case cudaErrorMemoryAllocation:
      return Answer::Kind::out_of_memory;
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown:
      return Answer::Kind::device_lost;
    default:
      return Answer::Kind::failed;
  }
}

Answer answer_of(cudaError_t error) {
  if (error == cudaSuccess) {
    return {};
  }
  return {kind_of(error), std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error)};
}

struct GraphRecording final : Recording {
  ~GraphRecording() override {
    if (executable != nullptr) {
      cudaGraphExecDestroy(executable);
    }
  }

  cudaGraphExec_t executable = nullptr;
};

/// A sum over processes that was begun in a recording: where its stream left the queue's and where
/// it comes back.
struct SumEvents {
  SumEvents() = default;
  ~SumEvents() {
    for (cudaEvent_t event : {left, done}) {
      if (event != nullptr) {
        cudaEventDestroy(event);
      }
    }
  }
  SumEvents(const SumEvents&) = delete;
  SumEvents& operator=(const SumEvents&) = delete;

  cudaEvent_t left = nullptr;
  cudaEvent_t done = nullptr;
};

enum class Priority { usual, first };

class CudaQueue final : public Queue {
 public:
  CudaQueue(int device, int marks, Priority priority = Priority::usual)
      : device_(device), events_(static_cast<std::size_t>(marks)) {
    if (!use()) {
      return;
    }
    int least = 0;
    int greatest = 0;
    note(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    note(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                      priority == Priority::first ? greatest : least));
    for (cudaEvent_t& event : events_) {
      note(cudaEventCreate(&event));
    }
  }

  ~CudaQueue() override {
    cudaSetDevice(device_);
    if (stream_ != nullptr) {
      cudaStreamSynchronize(stream_);
      cudaStreamDestroy(stream_);
    }
    for (cudaEvent_t event : events_) {
      if (event != nullptr) {
        cudaEventDestroy(event);
      }
    }
  }

  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  void upload(void* device, const void* host, std::int64_t bytes) override {
    move(device, host, bytes, cudaMemcpyHostToDevice);
  }
  void download(void* host, const void* device, std::int64_t bytes) override {
    move(host, device, bytes, cudaMemcpyDeviceToHost);
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    move(to, from, bytes, cudaMemcpyDefault);
  }

  void run(const Work& work) override {
    if (use()) {
      note(start(work));
    }
  }

  void call(const std::function<void()>& function) override {
    if (use()) {
      // CUDA's type is not constant, what it is given back as is.
      note(cudaLaunchHostFunc(
          stream_, [](void* given) { (*static_cast<const std::function<void()>*>(given))(); },
          const_cast<std::function<void()>*>(&function)));
    }
  }

  std::unique_ptr<Recording> record(std::span<const Deed> deeds, ProcessSums* sums) override {
    if (!use()) {
      return nullptr;
    }
    std::vector<BeginSum> begun;
    for (const Deed& deed : deeds) {
      if (const auto* const work = std::get_if<Work>(&deed)) {
        note(
            static_cast<cudaError_t>(std::visit([](const auto& one) { return load(one); }, *work)));
      } else if (const auto* const sum = std::get_if<BeginSum>(&deed)) {
        begun.push_back(*sum);
      }
    }
    get_ready(begun, sums);
    std::vector<SumEvents> events(begun.size());
    for (SumEvents& of_sum : events) {
      note(cudaEventCreateWithFlags(&of_sum.left, cudaEventDisableTiming));
      note(cudaEventCreateWithFlags(&of_sum.done, cudaEventDisableTiming));
    }
    if (!use() || !note(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal))) {
      return nullptr;
    }
    cudaGraph_t graph = nullptr;
    try {
      give(deeds, events, sums);
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) {
        cudaGraphDestroy(graph);
      }
      throw;
    }
    note(cudaStreamEndCapture(stream_, &graph));
    auto recording = std::make_unique<GraphRecording>();
    if (graph != nullptr) {
      note(cudaGraphInstantiate(&recording->executable, graph, 0));
      note(cudaGraphDestroy(graph));
    }
    if (recording->executable == nullptr) {
      return nullptr;
    }
    note(cudaGraphUpload(recording->executable, stream_));
    return recording;
  }

  void replay(const Recording& recording) override {
    if (use()) {
      note(cudaGraphLaunch(static_cast<const GraphRecording&>(recording).executable, stream_));
    }
  }

  void mark(int number) override {
    if (use()) {
      note(cudaEventRecord(events_[static_cast<std::size_t>(number)], stream_));
    }
  }

  void after(const Queue& other, int mark) override {
    const auto& queue = static_cast<const CudaQueue&>(other);
    note(queue.first_error_);
    if (use()) {
      note(cudaStreamWaitEvent(stream_, queue.events_[static_cast<std::size_t>(mark)], 0));
    }
  }

  double seconds_between(int from, int to) const override {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, events_[static_cast<std::size_t>(from)],
                         events_[static_cast<std::size_t>(to)]);
    return milliseconds * 1e-3;
  }

  Answer wait() override { return answer_of(end()); }

  Answer wait_for(int mark) override {
    if (use() && note(cudaEventSynchronize(events_[static_cast<std::size_t>(mark)]))) {
      return {};
    }
    return wait();
  }

  void* stream() const override { return stream_; }

 private:
  /// The first that went wrong.
  cudaError_t end() {
    // Also after a failure: what was queued before it uses memory until it is done.
    if (note(cudaSetDevice(device_)) && stream_ != nullptr) {
      note(cudaStreamSynchronize(stream_));
    }
    cudaGetLastError();  // it is told by the answer
    const cudaError_t error = first_error_;
    if (kind_of(error) != Answer::Kind::device_lost) {
      first_error_ = cudaSuccess;  // it was this work's; a lost device stays lost
    }
    return error;
  }

  void get_ready(std::span<const BeginSum> begun, ProcessSums* sums) {
    if (begun.empty()) {
      return;
    }
    COSMIC_ASSERT(sums != nullptr);
    if (sums_queue_ == nullptr) {
      // What others wait for goes before what only this process computes.
      sums_queue_ = std::make_unique<CudaQueue>(device_, 0, Priority::first);
    }
    sums->get_ready(*sums_queue_, begun);
    note(sums_queue_->end());
  }

  /// To a stream that is captured. Sums leave it for one of their own and come back.
  void give(std::span<const Deed> deeds, const std::vector<SumEvents>& events, ProcessSums* sums) {
    for (const Deed& deed : deeds) {
      if (const auto* const sum = std::get_if<BeginSum>(&deed)) {
        begin_sum(*sum, events.at(static_cast<std::size_t>(sum->number)), *sums);
      } else if (const auto* const await = std::get_if<AwaitSum>(&deed)) {
        note(cudaStreamWaitEvent(stream_, events.at(static_cast<std::size_t>(await->number)).done,
                                 0));
      } else {
        note(start(std::get<Work>(deed)));
      }
    }
  }

  void begin_sum(const BeginSum& sum, const SumEvents& events, ProcessSums& sums) {
    note(cudaEventRecord(events.left, stream_));
    note(cudaStreamWaitEvent(sums_queue_->stream_, events.left, 0));
    sums.add_up(*sums_queue_, sum);
    note(sums_queue_->first_error_);
    note(cudaEventRecord(events.done, sums_queue_->stream_));
  }

  /// Is there still a point in giving it work?
  bool use() { return first_error_ == cudaSuccess && note(cudaSetDevice(device_)); }

  bool note(cudaError_t error) {
    if (first_error_ == cudaSuccess) {
      first_error_ = error;
    }
    return error == cudaSuccess;
  }

  cudaError_t start(const Work& work) {
    return static_cast<cudaError_t>(
        std::visit([this](const auto& one) { return launch(one, stream_); }, work));
  }

  void move(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0 && use()) {
      note(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream_));
    }
  }

  int device_;
  cudaStream_t stream_ = nullptr;
  std::vector<cudaEvent_t> events_;
  cudaError_t first_error_ = cudaSuccess;
  std::unique_ptr<CudaQueue> sums_queue_;  // of sums over processes; null before the first
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(DeviceFacts facts) : facts_(std::move(facts)) {}

  const DeviceFacts& facts() const override { return facts_; }

  FreeMemory free_memory() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaSetDevice(facts_.ordinal);
    cudaMemGetInfo(&free, &total);
    return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
  }

  Allocation allocate(std::int64_t bytes) override {
    void* memory = nullptr;
    const auto size = static_cast<std::size_t>(bytes);
    // In this thread's own stream: CUDA refuses to wait for the whole device while another thread
    // records, and breaks that recording.
    cudaStream_t const stream = cudaStreamPerThread;
    cudaError_t error = cudaSetDevice(facts_.ordinal);
    error = error == cudaSuccess ? cudaMalloc(&memory, size) : error;
    error = error == cudaSuccess ? cudaMemsetAsync(memory, 0, size, stream) : error;
    error = error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
    if (error != cudaSuccess) {
      cudaFree(memory);
      cudaGetLastError();  // it is told by the answer
      return {nullptr, answer_of(error)};
    }
    return {static_cast<std::byte*>(memory), {}};
  }
  void release(std::byte* memory) override {
    cudaSetDevice(facts_.ordinal);
    cudaFree(memory);
  }

  Allocation allocate_pinned(std::int64_t bytes) override {
    void* memory = nullptr;
    const auto size = static_cast<std::size_t>(bytes);
    cudaError_t error = cudaSetDevice(facts_.ordinal);
    error = error == cudaSuccess ? cudaHostAlloc(&memory, size, cudaHostAllocPortable) : error;
    if (error != cudaSuccess) {
      cudaGetLastError();
      return {nullptr, answer_of(error)};
    }
    std::memset(memory, 0, size);
    return {static_cast<std::byte*>(memory), {}};
  }
  void release_pinned(std::byte* memory) override { cudaFreeHost(memory); }

  std::unique_ptr<Queue> make_queue(int marks) override {
    return std::make_unique<CudaQueue>(facts_.ordinal, marks);
  }

  std::shared_ptr<ProcessSums> connect(comm::Communicator& communicator) override {
    return connect_by_nccl(nccl_library(), facts_, communicator);
  }

 private:
  DeviceFacts facts_;
};

class CudaDriver final : public Driver {
 public:
  Presence presence() const override {
    Presence presence;
    cudaDriverGetVersion(&presence.driver_version);
    cudaRuntimeGetVersion(&presence.runtime_version);
    if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
      presence.visible_devices = visible;
    }
    const cudaError_t error = cudaGetDeviceCount(&presence.devices);
    presence.answer = answer_of(error);
    if (error != cudaSuccess) {
      cudaGetLastError();
      presence.devices = 0;
    }
    // CUDA calls a driver that is not there an old one.
    if (presence.answer.kind == Answer::Kind::driver_too_old && presence.driver_version == 0) {
      presence.answer.kind = Answer::Kind::no_driver;
    }
    return presence;
  }

  DeviceFacts facts(int ordinal) const override {
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, ordinal);
    const auto attribute = [ordinal](cudaDeviceAttr which) {
      int value = 0;
      cudaDeviceGetAttribute(&value, which, ordinal);
      return value;
    };
    DeviceFacts facts;
    facts.ordinal = ordinal;
    facts.name = properties.name;
    facts.major = properties.major;
    facts.minor = properties.minor;
    facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    facts.multiprocessors = properties.multiProcessorCount;
    facts.clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
    char bus_id[32];
    std::snprintf(
        bus_id, sizeof bus_id, "%08X:%02X:%02X.0", static_cast<unsigned>(properties.pciDomainID),
        static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
    facts.bus_id = bus_id;
    // Two bits per clock and line; both numbers are 0 where the driver does not tell them.
    facts.memory_bytes_per_second = 2e3 * attribute(cudaDevAttrMemoryClockRate) *
                                    attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    return facts;
  }

  std::shared_ptr<Device> open(int ordinal) const override {
    return std::make_shared<CudaDevice>(facts(ordinal));
  }
};

}  // namespace

std::shared_ptr<const Driver> cuda_driver() {
  static const auto driver = std::make_shared<const CudaDriver>();
  return driver;
}

}  // namespace cosmic::target::cuda
