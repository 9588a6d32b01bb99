#include "session/popdist_options.hpp"

namespace cosmic::session {

Options popdist_options(Options options, const comm::popdist::Environment& variable) {
  namespace popdist = comm::popdist;
  if (popdist::is_environment_set(variable)) {
    options.replication_factor = popdist::local_replicas(variable);
    options.seed = static_cast<std::uint64_t>(popdist::kCommonSeed);
  }
  return options;
}

}  // namespace cosmic::session
