#include "target/fake_gpu/fake_gpu_target.hpp"

#include "target/cuda/cuda_target.hpp"
#include "target/cuda/failures.hpp"

namespace cosmic::target::fake_gpu {

const std::shared_ptr<cuda::HostMachine>& machine() {
  static const auto the_machine = std::make_shared<cuda::HostMachine>();
  return the_machine;
}

void reset_machine() {
  *machine() = {};
}

Registration registration() {
  // All but what it runs on is the real one's.
  Registration registration = cuda::registration();
  registration.make = [](int device) {
    return cuda::make_cuda_target(cuda::host_driver(machine()), device);
  };
  registration.devices = [] { return machine()->presence.devices; };
  registration.available = [] { return cuda::availability(machine()->presence); };
  registration.list_of_devices = [] { return cuda::name_of(machine()->facts); };
  registration.identity_of_device = [](int device) {
    const cuda::DeviceFacts& facts = machine()->facts;
    return DeviceIdentity{device, facts.name, facts.bus_id};
  };
  return registration;
}

}  // namespace cosmic::target::fake_gpu
