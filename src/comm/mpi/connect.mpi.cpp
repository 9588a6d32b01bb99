#include "comm/mpi/connect.hpp"
#include "comm/mpi/mpi_communicator.hpp"

namespace cosmic::comm::mpi {

bool is_built() {
  return true;
}

std::unique_ptr<Communicator> connect() {
  return std::make_unique<MpiCommunicator>();
}

}  // namespace cosmic::comm::mpi
