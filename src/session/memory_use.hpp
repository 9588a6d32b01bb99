// The memory of a compiled program, for who explains it to people: every stored tensor with the
// name of its layer, its place and its life, and what is alive when that is most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/plan.hpp"
#include "graph/graph.hpp"

namespace cosmic::session {

/// A node in execution order, as people know it.
struct NodeLabel {
  std::string op;
  std::string layer;
};

/// A tensor in the arena. It lives from node `first` to node `last`; what is handed back has the
/// number of nodes as its `last`.
struct StoredTensor {
  std::size_t node = 0;  ///< that writes it
  graph::TensorType type;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct MemoryUse {
  std::int64_t arena_bytes = 0;
  std::int64_t peak_live_bytes = 0;
  std::vector<NodeLabel> nodes;
  std::vector<std::int64_t> live_bytes;  ///< one per node
  std::vector<StoredTensor> tensors;     ///< in the order they are written
  std::size_t peak_node = 0;
  std::vector<std::size_t> at_peak;  ///< indices into tensors, the largest first
};

MemoryUse memory_use(const compile::Plan& plan);

}  // namespace cosmic::session
