// The options of a model that poprun starts, as popdist.poptorch.Options has them.
#pragma once

#include "comm/popdist.hpp"
#include "session/options.hpp"

namespace cosmic::session {

/// `options` with the replicas that poprun gives this instance and the seed that all instances
/// share; as they are for a process that poprun did not start. The processes themselves
/// (Options::communicator) come from MPI.
Options popdist_options(Options options, const comm::popdist::Environment& variable);

}  // namespace cosmic::session
