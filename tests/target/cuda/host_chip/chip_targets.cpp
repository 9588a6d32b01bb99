// A build whose GPU is the host's chip: the conformance list, run by the kernels themselves. The
// program that links this has the target `cuda` alone.
#include <memory>
#include <variant>

#include "target/cuda/cuda_driver.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"
#include "target/cuda/launch.hpp"
#include "target/registration.hpp"

namespace cosmic::target {
namespace cuda {

/// In the place of the driver that talks to CUDA.
std::shared_ptr<const Driver> cuda_driver() {
  auto machine = std::make_shared<HostMachine>();
  machine->run = [](const Work& work) {
    std::visit([](const auto& one) { launch(one, nullptr); }, work);
  };
  return host_driver(std::move(machine));
}

}  // namespace cuda

std::vector<Registration> built_targets() {
  return {cuda::registration()};
}

std::vector<AbsentTarget> absent_targets() {
  return {};
}

}  // namespace cosmic::target
