// The one way into MPI. Nothing else includes its headers, and a process that was not started
// together with others never calls it, so it need not be there to run alone.
#pragma once

#include <memory>

#include "comm/communicator.hpp"

namespace cosmic::comm::mpi {

/// Was this program built with MPI?
bool is_built();

/// Joins the processes that a launcher has started with this one; one at a time. Throws
/// TargetError if MPI cannot, or UserError if this build has none.
std::unique_ptr<Communicator> connect();

}  // namespace cosmic::comm::mpi
