// What the compiler asks of a target. The compiler defines the questions, so that it never has to
// know a target. Every answer has a default that is right for a target which stores everything in
// plain layout and runs one node after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compile/pass.hpp"
#include "compile/step.hpp"
#include "core/support.hpp"
#include "graph/graph.hpp"

namespace cosmic::compile {

/// May these nodes ride on the step, in this way? Several only where one is of use only with the
/// others: a moment and the step that takes it.
struct RideQuestion {
  const graph::Graph& graph;
  const Step& step;
  Ride ride;
  std::span<const graph::ValueId> riders;
};

/// How a step takes part in a group of steps that run side by side.
struct Part {
  std::int64_t parts = 0;    ///< pieces that its images can be cut into; 0: it takes no part
  bool joined_last = false;  ///< its result is only there when the whole group is done
  bool has_images = false;   ///< a group without any is not worth it
};

struct TargetInfo {
  std::string name;
  /// What plans and kernels rely on in this machine, such as the width of its vectors: where it is
  /// another text, a plan made here does not run.
  std::string machine = "any";

  /// The layout that images take in this program, one for all of them.
  std::function<graph::Layout(const graph::Graph&)> image_layout = [](const graph::Graph&) {
    return graph::Layout::plain;
  };
  /// Does this node read its operand i, an image of a single channel in plain layout, as it is,
  /// where images otherwise have this layout?
  std::function<bool(const graph::Node&, std::size_t i, graph::Layout images)> reads_plain_channel =
      [](const graph::Node&, std::size_t, graph::Layout) { return false; };

  /// Is there a row-by-row form of this value, so that readers can recompute it?
  std::function<bool(const graph::Graph&, graph::ValueId)> can_recompute =
      [](const graph::Graph&, graph::ValueId) { return false; };
  /// Does this reader evaluate what is handed to it as operand i, or does it want it stored?
  std::function<bool(const graph::Node& reader, std::size_t i)> evaluates_operand =
      [](const graph::Node&, std::size_t) { return true; };
  /// Storing costs memory besides traffic: recomputing may cost this many times the traffic.
  double worth_of_memory = 2.5;
  /// Images that one expression may be made of. Beyond them arithmetic is not hidden behind
  /// reading.
  std::size_t most_leaves = 3;

  /// Bytes the value takes in the target's layout.
  std::function<std::int64_t(const graph::Node&)> storage_bytes = [](const graph::Node& node) {
    return graph::bytes_of(node);
  };
  /// May the result of this node be written over `leaf`, a stored value that nobody reads
  /// afterwards?
  std::function<bool(const graph::Graph&, graph::ValueId node, graph::ValueId leaf)>
      can_write_over = [](const graph::Graph&, graph::ValueId, graph::ValueId) { return false; };
  /// Values of different kinds never share memory, whenever they live. A target whose threads each
  /// write a part of a value says so of values that are cut differently: bytes that another core
  /// wrote last are slow to write.
  std::function<std::int64_t(const graph::Graph&, graph::ValueId)> memory_kind =
      [](const graph::Graph&, graph::ValueId) { return std::int64_t{0}; };
  std::int64_t alignment = 64;  ///< of every buffer, in bytes

  std::function<Support(const RideQuestion&)> can_ride = [](const RideQuestion&) {
    return Support::no("every node is a step of its own");
  };
  /// Does the target order nodes so that riders follow their leaders? Only worth it if some ride.
  bool has_riders = false;
  /// Is this operand brought into another form before it is used, such as packed weights? Then that
  /// is done once where it never changes.
  std::function<bool(const graph::Node&, std::size_t operand)> prepares_operand =
      [](const graph::Node&, std::size_t) { return false; };
  /// Is a value in a narrow format rounded on its way to memory, or when all of it is there?
  std::function<bool(const graph::Node&)> rounds_as_written = [](const graph::Node&) {
    return true;
  };
  std::function<Part(const graph::Graph&, const Step&)> part_of_group =
      [](const graph::Graph&, const Step&) { return Part{}; };

  /// Rewrites only this target wants, run after the general ones and before layouts are assigned.
  std::vector<Pass> lowering;
};

}  // namespace cosmic::compile
