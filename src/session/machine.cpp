#include "session/machine.hpp"

#include "session/planning.hpp"
#include "target/registry.hpp"

namespace cosmic::session {

Machine find_machine(const Options& options, Purpose purpose) {
  const std::unique_ptr<target::Target> target = chosen_target(options, purpose);
  const int threads = kernel_options(options).threads;
  const std::string name(target->name());
  return {name, target->provenance(), threads, target->peak_in(precision_of(options), threads),
          target::described_machine(name, options.machine)};
}

}  // namespace cosmic::session
