// By which way processes that compute on devices add up what each has.
#pragma once

namespace cosmic::comm {

enum class Exchange {
  automatic,  ///< between devices where the target has some, otherwise in the hosts' memory
  device,     ///< straight between devices: NCCL between GPUs
  host,       ///< by way of the hosts' memory, by a Communicator
};

}  // namespace cosmic::comm
