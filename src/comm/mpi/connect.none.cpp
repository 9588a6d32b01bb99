#include "comm/mpi/connect.hpp"
#include "core/error.hpp"

namespace cosmic::comm::mpi {

bool is_built() {
  return false;
}

std::unique_ptr<Communicator> connect() {
  throw UserError(
      "several processes are to work together (this program was built without MPI, so they cannot "
      "reach each other); build it where libopenmpi-dev or libmpich-dev is installed (COSMIC_MPI), "
      "or start one process");
}

}  // namespace cosmic::comm::mpi
