// What the compiler asks of a target. The compiler defines the questions, so that it never has to
// know a target.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compile/pass.hpp"
#include "graph/graph.hpp"

namespace cosmic::compile {

/// Neighbouring nodes that a target runs side by side, by their indices, both included.
struct NodeGroup {
  std::size_t first = 0;
  std::size_t last = 0;
};

struct TargetInfo {
  std::string name;
  /// What plans and kernels rely on in this machine, such as the width of its vectors: where it is
  /// another text, a plan made here does not run.
  std::string machine = "any";
  /// Can readers of this value recompute it instead of loading it?
  std::function<bool(const graph::Graph&, graph::ValueId)> can_recompute =
      [](const graph::Graph&, graph::ValueId) { return false; };
  /// Bytes the value takes in the target's layout.
  std::function<std::int64_t(const graph::Node&)> storage_bytes = [](const graph::Node& node) {
    return graph::bytes_of(node);
  };
  /// May the result of this node be written over `leaf`, a stored value that nobody reads
  /// afterwards?
  std::function<bool(const graph::Graph&, graph::ValueId node, graph::ValueId leaf)>
      can_write_over = [](const graph::Graph&, graph::ValueId, graph::ValueId) { return false; };
  /// Groups of nodes that run side by side, each on another part of the images; all others run one
  /// after the other. What a group reads and writes lives as long as the whole group does.
  std::function<std::vector<NodeGroup>(const graph::Graph&)> groups = [](const graph::Graph&) {
    return std::vector<NodeGroup>{};
  };
  /// Values of different kinds never share memory, whenever they live. A target whose threads each
  /// write a part of a value says so of values that are cut differently: bytes that another core
  /// wrote last are slow to write.
  std::function<std::int64_t(const graph::Graph&, graph::ValueId)> memory_kind =
      [](const graph::Graph&, graph::ValueId) { return std::int64_t{0}; };
  std::int64_t alignment = 64;  ///< of every buffer, in bytes
  /// Rewrites only this target wants, run after the general ones.
  std::vector<Pass> lowering;
};

}  // namespace cosmic::compile
