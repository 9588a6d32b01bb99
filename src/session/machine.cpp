#include "session/machine.hpp"

#include "session/planning.hpp"

namespace cosmic::session {

Machine find_machine(const Options& options, Purpose purpose) {
  const std::unique_ptr<target::Target> target = chosen_target(options, purpose);
  const int threads = kernel_options(options).threads;
  return {std::string(target->name()), target->provenance(), threads, target->peak(threads)};
}

}  // namespace cosmic::session
