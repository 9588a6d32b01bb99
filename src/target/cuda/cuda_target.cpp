#include "target/cuda/cuda_target.hpp"

#include <algorithm>
#include <cstdio>

#include "target/cuda/cuda_driver.hpp"
#include "target/cuda/cuda_executable.hpp"
#include "target/cuda/cuda_info.hpp"
#include "target/cuda/failures.hpp"
#include "target/cuda/host_sums.hpp"
#include "target/cuda/lower.hpp"
#include "target/cuda/program_memory.hpp"
#include "target/device.hpp"

namespace cosmic::target::cuda {
namespace {

/// Multiply-adds that a multiprocessor does in a clock: of float32 by its lanes, of narrow formats
/// with sums in float32 by its tensor cores (dense), as NVIDIA's white papers have them for the
/// cards of data centres.
int multiply_adds_of(const DeviceFacts& device, NumberFormat format) {
  const bool a100 = device.major == 8 && device.minor == 0;
  if (format == NumberFormat::f32) {
    return a100 ? 64 : 128;
  }
  return a100 ? 1024 : device.major == 8 ? 512 : 2048;
}

DeviceIdentity identity_of(const DeviceFacts& device) {
  return {device.ordinal, device.name, device.bus_id};
}

class CudaTarget final : public Target {
 public:
  explicit CudaTarget(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  std::string_view name() const override { return kName; }
  Provenance provenance() const override { return Provenance::measured; }
  Support supports(const graph::Graph& graph, graph::ValueId node) const override {
    return supports_node(graph, node);
  }
  Support supports_precision(const compile::Precision& precision) const override {
    if (precision.rounding != Rounding::nearest) {
      return Support::no("numbers are rounded to the nearest; stochastic rounding has no kernels");
    }
    if (precision.partials != NumberFormat::f32) {
      return Support::no("sums are float32; sums in " + to_string(precision.partials) +
                         " have no kernels");
    }
    return Support::yes();
  }
  compile::TargetInfo info() const override {
    return cuda_info("compute capability " + std::to_string(device_->facts().major) + "." +
                     std::to_string(device_->facts().minor));
  }
  std::vector<KernelChoice> kernel_choices(const compile::Plan& plan,
                                           const compile::Step& step) const override {
    const graph::ValueId value = step.leader.value;
    return {{kernel_name(plan.graph, step), supports_node(plan.graph, value)}};
  }
  std::shared_ptr<StateBank> make_bank(
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    return std::make_shared<DeviceBank>(device_, states);
  }
  std::unique_ptr<Executable> compile(const compile::Plan& plan, std::shared_ptr<StateBank> bank,
                                      const CompileOptions& options) const override {
    auto own = std::dynamic_pointer_cast<DeviceBank>(std::move(bank));
    COSMIC_ASSERT(own != nullptr);
    return std::make_unique<CudaExecutable>(plan, device_, std::move(own), sums(plan, options),
                                            options);
  }
  Support supports_processes(int) const override { return Support::yes(); }
  Support supports_exchange(comm::Exchange) const override { return Support::yes(); }
  HostBuffer host_buffer(std::int64_t bytes) const override {
    std::byte* const pinned = device_->allocate_pinned(std::max<std::int64_t>(bytes, 1)).memory;
    if (pinned == nullptr) {  // then it is staged like any other memory
      return HostBuffer(bytes);
    }
    return HostBuffer(pinned, bytes,
                      [device = device_](std::byte* memory) { device->release_pinned(memory); });
  }
  bool prefers_pixels() const override { return true; }
  /// As the device describes itself: the clock that it may reach, and its memory's.
  std::optional<Peak> peak(int threads) const override { return peak_in({}, threads); }
  std::optional<Peak> peak_in(const compile::Precision& precision, int) const override {
    const DeviceFacts& facts = device_->facts();
    if (facts.clock_hz == 0 || facts.memory_bytes_per_second == 0) {
      return std::nullopt;
    }
    return Peak{
        2.0 * multiply_adds_of(facts, precision.format) * facts.multiprocessors * facts.clock_hz,
        facts.memory_bytes_per_second, "as the device describes itself"};
  }

  std::optional<DeviceRoom> device_room() const override {
    const FreeMemory memory = device_->free_memory();
    return DeviceRoom{identity_of(device_->facts()), memory.free, memory.total};
  }
  std::optional<MemoryNeed> memory_need(
      std::span<const compile::Plan* const> plans,
      const std::vector<std::pair<std::string, graph::TensorType>>& states) const override {
    MemoryNeed need;
    for (const compile::Plan* const plan : plans) {
      const ProgramMemory memory = program_memory(*plan);
      need.add("values", memory.values);
      need.add("inputs", memory.inputs);
      need.add("inputs on their way", memory.staging);
      need.add("partial sums", memory.scratch);
      need.add("packed weights", memory.prepared);
    }
    need.add("weights and moments", DeviceBank::bytes_of(states));
    return need;
  }

 private:
  /// Over all processes that run the program, if it adds something up over them.
  std::shared_ptr<ProcessSums> sums(const compile::Plan& plan,
                                    const CompileOptions& options) const {
    const auto& nodes = plan.graph.nodes();
    if (options.communicator == nullptr ||
        std::none_of(nodes.begin(), nodes.end(), [](const graph::Node& node) {
          return graph::op_if<graph::AllReduce>(node) != nullptr;
        })) {
      return nullptr;
    }
    if (options.exchange == comm::Exchange::host) {
      return sums_by_host(device_, *options.communicator);
    }
    // All programs of a model share one connection.
    if (between_devices_ == nullptr || connected_by_ != options.communicator) {
      between_devices_ = device_->connect(*options.communicator);
      connected_by_ = options.communicator;
    }
    return between_devices_;
  }

  std::shared_ptr<Device> device_;  // shared with the banks and programs made here
  mutable std::shared_ptr<ProcessSums> between_devices_;  // shared with programs; null at first
  mutable comm::Communicator* connected_by_ = nullptr;
};

/// The devices that are here, with their memory.
std::string list_of_devices(const Driver& driver) {
  std::string list;
  const int devices = driver.presence().devices;
  for (int i = 0; i < devices; ++i) {
    const DeviceFacts facts = driver.facts(i);
    char memory[32];
    std::snprintf(memory, sizeof memory, ", %.0f GB",
                  static_cast<double>(facts.memory_bytes) / 1e9);
    list += (list.empty() ? "" : "; ") + name_of(facts) + memory;
  }
  return list;
}

}  // namespace

std::unique_ptr<Target> make_cuda_target(std::shared_ptr<const Driver> driver, int device) {
  const Presence presence = driver->presence();
  const Support present = availability(presence);
  COSMIC_REQUIRE(TargetError, present.ok,
                 "target '" << kName << "' cannot be used here: " << present.why_not);
  COSMIC_REQUIRE(UserError, device >= 0 && device < presence.devices,
                 "run.device is " << device << " (target '" << kName << "' has " << presence.devices
                                  << " device" << (presence.devices == 1 ? "" : "s")
                                  << " here, counted from 0); choose one of them");
  const Support fit = availability(driver->facts(device));
  COSMIC_REQUIRE(TargetError, fit.ok,
                 "target '" << kName << "' cannot be used there: " << fit.why_not);
  return std::make_unique<CudaTarget>(driver->open(device));
}

Registration registration() {
  return {
      .name = std::string(kName),
      .compute_mode = "GPU",
      .make = [](int device) { return make_cuda_target(cuda_driver(), device); },
      .devices = [] { return cuda_driver()->presence().devices; },
      .available = [] { return availability(cuda_driver()->presence()); },
      .list_of_devices = [] { return list_of_devices(*cuda_driver()); },
      .identity_of_device = [](int device) { return identity_of(cuda_driver()->facts(device)); }};
}

}  // namespace cosmic::target::cuda
