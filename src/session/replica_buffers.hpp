// Running statistics where several replicas train, in this process or in several. Each replica
// observes its own micro-batches and would keep its own statistics, which nobody reads while
// training; what is kept is a choice.
//
// The replicas of a process run one after the other on the same state. Before each of them the
// buffers go back to what they were at the start of the update. A running statistic is linear in
// what it observes, so the mean over replicas, taken at each update, is the mean of what replicas
// would have kept for themselves all along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "session/options.hpp"
#include "target/target.hpp"

namespace cosmic::session {

class ReplicaBuffers {
 public:
  /// The buffers that the program updates. With one replica in all there is nothing to do.
  ReplicaBuffers(const graph::Graph& program, const Options& options);

  /// Around the micro-batches of replica `replica` of this process, in order from 0. Allocates
  /// nothing.
  void begin_replica(std::int64_t replica, target::StateBank& bank);
  void end_replica(std::int64_t replica, const target::StateBank& bank);
  /// When the update counts: what all replicas of all processes observed becomes the state.
  void end_update(target::StateBank& bank);

 private:
  struct Buffer {
    std::string name;
    bool averaged = false;
    std::size_t begin = 0;  ///< among what one replica observed
    std::size_t bytes = 0;
  };

  std::span<std::byte> part_of(const Buffer& buffer, std::span<std::byte> replica) const {
    return replica.subspan(buffer.begin, buffer.bytes);
  }
  /// What one replica of all observed, counted over all processes.
  std::span<std::byte> observed_by(std::int64_t replica);

  std::vector<Buffer> buffers_;
  std::size_t bytes_ = 0;  ///< of all buffers
  comm::Communicator* communicator_;
  std::int64_t replicas_;          ///< of this process
  std::int64_t all_replicas_;      ///< of all processes
  std::vector<std::byte> start_;   ///< at the start of the update
  std::vector<std::byte> own_;     ///< observed by the replicas of this process
  std::vector<std::byte> of_all_;  ///< by those of all processes, in the order of ranks
};

}  // namespace cosmic::session
