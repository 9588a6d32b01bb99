// A local value (an activation, a normalisation, an upsampled image, the gradients of these) can be
// recomputed row by row in the cache of whoever reads it. That costs reading what it is made of; a
// buffer costs writing it once and reading it each time, and memory for as long as it lives. Memory
// traffic is what such ops cost, so traffic decides:
//
//   recomputed:  reads * (bytes it is made of)
//   stored:      (bytes it is made of) + its bytes + reads * (its bytes)
//
// In a training step this leaves little in memory but what convolutions wrote: leaky(norm(x)) is
// recomputed forwards and backwards from x and two numbers per channel.
#include <algorithm>
#include <set>

#include "compile/passes/passes.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// Operands smaller than this share of the value are numbers per channel, not images.
constexpr std::int64_t kSmall = 64;

class Chooser {
 public:
  Chooser(const Graph& graph, const TargetInfo& target)
      : graph_(graph), target_(target), readers_(readers_of(graph)) {
    candidate_.resize(graph.size(), false);
    for_each_node(graph, [&](ValueId id, const Node& node) {
      candidate_[id.index()] = locality_of(node.op) != graph::Locality::whole &&
                               !node.operands.empty() && !readers_[id.index()].empty() &&
                               target.can_recompute(graph, id) && all_evaluate(id);
    });
    for (const graph::NamedValue& output : graph.outputs) {
      candidate_[output.value.index()] = false;
    }
    for (const graph::StateUpdate& update : graph.updates) {
      candidate_[update.value.index()] = false;
    }
    stored_.resize(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
      stored_[i] = !candidate_[i];
    }
  }

  /// How often a value is read depends on which of its readers are stored, and what it is made of
  /// on which of its operands are; a few rounds settle it.
  std::vector<bool> choose() {
    for (int round = 0; round < 3; ++round) {
      const std::vector<double> reads = count_reads();
      decide(reads);
    }
    return stored_;
  }

 private:
  bool all_evaluate(ValueId id) const {
    return std::all_of(readers_[id.index()].begin(), readers_[id.index()].end(),
                       [&](ValueId reader_id) {
                         const Node& reader = graph_.node(reader_id);
                         for (std::size_t i = 0; i < reader.operands.size(); ++i) {
                           if (reader.operands[i] == id && !target_.evaluates_operand(reader, i)) {
                             return false;
                           }
                         }
                         return true;
                       });
  }

  std::vector<double> count_reads() const {
    std::vector<double> reads(graph_.size(), 0);
    for (std::size_t i = graph_.size(); i-- > 0;) {
      // A kernel that takes a value twice (through two operands) evaluates it once per row.
      const std::set<ValueId> distinct(readers_[i].begin(), readers_[i].end());
      for (const ValueId reader : distinct) {
        reads[i] += stored_[reader.index()] ? 1 : reads[reader.index()];
      }
    }
    return reads;
  }

  void decide(const std::vector<double>& reads) {
    std::vector<std::set<std::size_t>> leaves(graph_.size());
    for_each_node(graph_, [&](ValueId id, const Node& node) {
      const std::size_t i = id.index();
      if (!candidate_[i]) {
        leaves[i] = {i};
        return;
      }
      std::set<std::size_t> made_of;
      for (const ValueId operand : node.operands) {
        if (graph_.type(operand).bytes() * kSmall >= node.type.bytes()) {
          made_of.insert(leaves[operand.index()].begin(), leaves[operand.index()].end());
        }
      }
      double bytes_made_of = 0;
      for (const std::size_t leaf : made_of) {
        bytes_made_of += bytes(ValueId(leaf));
      }
      const double own = bytes(id);
      const double recomputed = reads[i] * bytes_made_of;
      const double stored = bytes_made_of + own + reads[i] * own;
      stored_[i] =
          made_of.size() > target_.most_leaves || recomputed > target_.worth_of_memory * stored;
      leaves[i] = stored_[i] ? std::set<std::size_t>{i} : std::move(made_of);
    });
  }

  double bytes(ValueId id) const {
    return static_cast<double>(target_.storage_bytes(graph_.node(id)));
  }

  const Graph& graph_;
  const TargetInfo& target_;
  std::vector<std::vector<ValueId>> readers_;
  std::vector<bool> candidate_;
  std::vector<bool> stored_;
};

}  // namespace

Pass choose_stored_values(const TargetInfo& target) {
  return {"choose-stored-values",
          "last of the rewrites: what is worth storing depends on who reads it in the end",
          [target](Graph graph) {
            const std::vector<bool> stored = Chooser(graph, target).choose();
            for (std::size_t i = 0; i < graph.size(); ++i) {
              graph.node(ValueId(i)).stored = stored[i];
            }
            return graph;
          }};
}

}  // namespace cosmic::compile
