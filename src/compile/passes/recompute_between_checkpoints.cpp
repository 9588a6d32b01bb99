// A training step keeps what the backward pass will read, from the moment it is computed until
// then: most of its memory. With checkpoints, only the results of some blocks are kept; what lies
// between them is computed a second time when the backward pass gets there, by clones of the nodes
// that computed it first. A clone reads the same values with the same op, so every number is the
// same; the price is at most one more forward pass.
//
// The program is cut into segments, each ending with a checkpoint. All clones of a segment stand
// together, in front of the first convolution of the backward pass from which on they are needed:
// a target may let reductions ride on a convolution if they follow it at once, and summing in
// another order would change bits.
//
// A stage of a pipeline computes its own values again. What it received from another stage it has,
// and keeps.
#include <algorithm>
#include <optional>
#include <set>

#include "compile/layer_names.hpp"
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// A value with less than this part of the bytes of the largest is kept: statistics and coefficients
// are numbers per channel, and computing them takes a pass over an image.
constexpr std::int64_t kWorthRecomputing = 64;

class Recomputer {
 public:
  Recomputer(const Graph& graph, const std::vector<std::string>& blocks)
      : from_(graph), readers_(readers_of(graph)), map_(graph.size()), clones_(graph.size()) {
    find_forward();
    find_kept(blocks);
  }

  Graph run() {
    const std::vector<std::vector<std::size_t>> clones_before = place_segments();
    for_each_node(from_, [&](ValueId id, const Node& node) {
      for (const std::size_t segment : clones_before[id.index()]) {
        clone_segment(segment);
      }
      Node copy = node;
      for (ValueId& operand : copy.operands) {
        const bool again =
            !forward_[id.index()] && same_stage(node, operand) && clones_[operand.index()];
        operand = again ? *clones_[operand.index()] : map_[operand.index()];
      }
      map_[id.index()] = to_.append(std::move(copy));
    });
    copy_boundary(from_, map_, to_);
    return std::move(to_);
  }

 private:
  /// What the loss, other results and running statistics are made of; the rest is the backward
  /// pass and the update.
  void find_forward() {
    forward_.resize(from_.size(), false);
    for (const graph::NamedValue& output : from_.outputs) {
      forward_[output.value.index()] =
          !is_gradient(output.name) && !follows_gradients(from_, output.value);
    }
    std::set<ValueId> buffers;
    for (const graph::StateVariable& state : from_.states) {
      if (state.kind == graph::StateKind::buffer) {
        buffers.insert(state.value);
      }
    }
    for (const graph::StateUpdate& update : from_.updates) {
      if (buffers.contains(update.state)) {
        forward_[update.value.index()] = true;
      }
    }
    for (std::size_t i = from_.size(); i-- > 0;) {
      for (const ValueId operand : from_.nodes()[i].operands) {
        forward_[operand.index()] = forward_[operand.index()] || forward_[i];
      }
    }
  }

  static bool is_gradient(const std::string& output) {
    return output.starts_with(gradient_name(""));
  }

  /// Kept are what is there anyway, what is small, and what leaves a checkpoint's block. A value
  /// that is not stored costs nothing; what it is made of is kept in its place.
  void find_kept(const std::vector<std::string>& blocks) {
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      largest = std::max(largest, forward_[i] ? from_.nodes()[i].type.bytes() : 0);
    }
    kept_.resize(from_.size(), false);
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const Node& node = from_.nodes()[i];
      // What processes have agreed on is not asked for again.
      kept_[i] = !is_work(node) || graph::op_if<graph::AllReduce>(node) != nullptr ||
                 (node.stored && node.type.bytes() * kWorthRecomputing < largest);
    }
    for (const graph::NamedValue& output : from_.outputs) {
      kept_[output.value.index()] = true;
    }
    for (const std::string& block : blocks) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < from_.size(); ++i) {
        if (forward_[i] && is_work(from_.nodes()[i]) && leaves(ValueId(i), block)) {
          keep(ValueId(i));
          end = i;
        }
      }
      ends_.insert(end);
    }
  }

  bool leaves(ValueId id, const std::string& block) const {
    const auto inside = [&](ValueId node) { return belongs_to(from_.node(node).name, block); };
    const auto& readers = readers_[id.index()];
    return inside(id) && std::any_of(readers.begin(), readers.end(), [&](ValueId reader) {
             return forward_[reader.index()] && !inside(reader);
           });
  }

  void keep(ValueId id) {
    if (from_.node(id).stored) {
      kept_[id.index()] = true;
      return;
    }
    for (const ValueId operand : from_.node(id).operands) {
      keep(operand);
    }
  }

  /// Between which checkpoints a forward value is computed.
  std::size_t segment_of(ValueId id) const {
    return static_cast<std::size_t>(std::distance(ends_.begin(), ends_.lower_bound(id.index())));
  }

  /// The backward pass begins with the last segment, whose values are still there.
  bool is_recomputed(ValueId id) const {
    return forward_[id.index()] && !kept_[id.index()] && segment_of(id) < ends_.size();
  }

  /// For each node, the segments whose clones stand in front of it.
  std::vector<std::vector<std::size_t>> place_segments() const {
    std::vector<std::vector<std::size_t>> before(from_.size());
    std::set<std::size_t> placed;
    std::size_t convolution = from_.size();
    for_each_node(from_, [&](ValueId id, const Node& node) {
      if (forward_[id.index()]) {
        return;
      }
      if (graph::op_if<graph::Conv>(node) != nullptr ||
          graph::op_if<graph::ConvTranspose>(node) != nullptr) {
        convolution = id.index();
      }
      for (const ValueId operand : node.operands) {
        if (is_recomputed(operand) && same_stage(node, operand) &&
            placed.insert(segment_of(operand)).second) {
          before[std::min(convolution, id.index())].push_back(segment_of(operand));
        }
      }
    });
    return before;
  }

  bool same_stage(const Node& reader, ValueId value) const {
    return from_.node(value).stage == reader.stage;
  }

  /// Clones what the backward pass reads of a segment, and what that is made of.
  void clone_segment(std::size_t segment) {
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const ValueId id(i);
      const auto& readers = readers_[i];
      const bool read_backwards = std::any_of(readers.begin(), readers.end(), [&](ValueId reader) {
        return !forward_[reader.index()] && same_stage(from_.node(reader), id);
      });
      if (read_backwards && is_recomputed(id) && segment_of(id) == segment) {
        clone(id);
      }
    }
  }

  ValueId clone(ValueId id) {
    if (!is_recomputed(id)) {
      return map_[id.index()];
    }
    if (!clones_[id.index()]) {
      Node copy = from_.node(id);
      for (ValueId& operand : copy.operands) {
        operand = same_stage(copy, operand) ? clone(operand) : map_[operand.index()];
      }
      clones_[id.index()] = to_.append(std::move(copy));
    }
    return *clones_[id.index()];
  }

  const Graph& from_;
  const std::vector<std::vector<ValueId>> readers_;
  Graph to_;
  std::vector<ValueId> map_;
  std::vector<std::optional<ValueId>> clones_;
  std::vector<bool> forward_;
  std::vector<bool> kept_;
  std::set<std::size_t> ends_;  ///< the last value of each checkpoint
};

std::string joined(const std::vector<std::string>& blocks) {
  std::string text;
  for (const std::string& block : blocks) {
    text += (text.empty() ? "" : " ") + block;
  }
  return text;
}

}  // namespace

Pass recompute_between_checkpoints(const std::vector<std::string>& blocks) {
  return {"recompute-between-checkpoints",
          "after it is known what is stored: only that costs memory, and clones are stored or not "
          "as their originals",
          [blocks](const Graph& graph) { return Recomputer(graph, blocks).run(); }, Required::no,
          joined(blocks)};
}

}  // namespace cosmic::compile
