// Running statistics where several replicas train. Each replica observes its own micro-batches and
// would keep its own statistics, which nobody reads while training; what is kept is a choice.
//
// Replicas run one after the other on the same state. Before each of them the buffers go back to
// what they were at the start of the update. A running statistic is linear in what it observes, so
// the mean over replicas, taken at each update, is the mean of what replicas would have kept for
// themselves all along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "session/options.hpp"
#include "target/target.hpp"

namespace cosmic::session {

class ReplicaBuffers {
 public:
  /// The buffers that the program updates. With one replica there is nothing to do.
  ReplicaBuffers(const graph::Graph& program, std::int64_t replicas, ReplicaStatistics kind);

  /// Around the micro-batches of replica `replica`, in order from 0. Allocates nothing.
  void begin_replica(std::int64_t replica, target::StateBank& bank);
  void end_replica(std::int64_t replica, target::StateBank& bank);

 private:
  struct Buffer {
    std::string name;
    graph::DType dtype;
    std::vector<std::byte> start;     ///< at the start of the update
    std::vector<std::byte> observed;  ///< by one replica
    std::vector<double> sum;          ///< over replicas; of floats only
  };

  void average(Buffer& buffer, std::int64_t replica, target::StateBank& bank);

  std::vector<Buffer> buffers_;
  std::int64_t replicas_;
  ReplicaStatistics kind_;
};

}  // namespace cosmic::session
