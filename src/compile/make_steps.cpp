#include <algorithm>
#include <optional>
#include <set>

#include "compile/step.hpp"
#include "compile/target_info.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

bool is_output(const Graph& graph, ValueId id) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const graph::NamedValue& output) { return output.value == id; });
}

/// Values that depend on nothing but state this program does not change.
std::vector<bool> constant_values(const Graph& graph) {
  std::set<ValueId> changed;
  for (const graph::StateUpdate& update : graph.updates) {
    changed.insert(update.state);
  }
  std::vector<bool> constant(graph.size(), false);
  for_each_node(graph, [&](ValueId id, const Node& node) {
    bool all = op_if<graph::Input>(node) == nullptr && !changed.contains(id);
    for (const ValueId operand : node.operands) {
      all = all && constant[operand.index()];
    }
    constant[id.index()] = all;
  });
  return constant;
}

/// Which values are computed once per change of the state, and which operands are prepared then.
class FixedValues {
 public:
  FixedValues(const Graph& graph, const TargetInfo& target)
      : graph_(graph), target_(target), fixed_(constant_values(graph)) {
    for (const graph::NamedValue& output : graph.outputs) {
      fixed_[output.value.index()] = false;
    }
    // A state takes its update at the end of every run, when others have used the memory of what was
    // computed before the first.
    for (const graph::StateUpdate& update : graph.updates) {
      fixed_[update.value.index()] = false;
    }
    while (drop_those_read_while_running()) {
    }
  }

  bool contains(ValueId value) const { return fixed_[value.index()]; }

  /// The operands that the target prepares, if it can prepare all of them before the first run.
  std::uint32_t prepared_operands(const Node& node) const {
    std::uint32_t prepared = 0;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (target_.prepares_operand(node, i)) {
        if (!fixed_[node.operands[i].index()]) {
          return 0;
        }
        prepared |= 1U << i;
      }
    }
    return prepared;
  }

 private:
  // A fixed value gives its memory back after it was prepared from, so whoever reads it while
  // running makes it an ordinary value: those are small and computed each time.
  bool drop_those_read_while_running() {
    bool dropped = false;
    for_each_node(graph_, [&](ValueId id, const Node& node) {
      const std::uint32_t prepared = prepared_operands(node);
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const std::size_t operand = node.operands[i].index();
        const bool taken_in = fixed_[id.index()] || (prepared >> i & 1U) != 0;
        // State has memory of its own and is always there.
        if (fixed_[operand] && !taken_in &&
            op_if<graph::State>(graph_.nodes()[operand]) == nullptr) {
          fixed_[operand] = false;
          dropped = true;
        }
      }
    });
    return dropped;
  }

  const Graph& graph_;
  const TargetInfo& target_;
  std::vector<bool> fixed_;
};

/// Nodes that would ride together, and how.
struct Candidates {
  Ride ride = Ride::reduces_result;
  std::vector<ValueId> riders;
};

class StepMaker {
 public:
  StepMaker(const Graph& graph, const TargetInfo& target)
      : graph_(graph), target_(target), fixed_(graph, target), readers_(readers_of(graph)) {}

  std::vector<Step> make() {
    for_each_node(graph_, [&](ValueId id, const Node& node) {
      if (!is_computed_and_stored(node) || taken_.contains(id)) {
        return;
      }
      if (!steps_.empty() && take_along(steps_.back(), id)) {
        return;
      }
      steps_.push_back({computed(id), {}, fixed_.contains(id), fixed_.prepared_operands(node)});
    });
    return std::move(steps_);
  }

 private:
  Computed computed(ValueId id) const {
    const Node& node = graph_.node(id);
    RoundedWhen rounded = RoundedWhen::never;
    if (node.format != NumberFormat::f32) {
      rounded = target_.rounds_as_written(node) ? RoundedWhen::as_written : RoundedWhen::complete;
    }
    return {id, expression_of(graph_, id), rounded};
  }

  /// Riders must come next in the program: what they compute is there when the step ends.
  bool take_along(Step& step, ValueId next) {
    const std::optional<Candidates> candidates = candidates_of(step, next);
    if (!candidates || !target_.can_ride({graph_, step, candidates->ride, candidates->riders}).ok) {
      return false;
    }
    for (const ValueId rider : candidates->riders) {
      step.riders.push_back({computed(rider), candidates->ride});
      taken_.insert(rider);
    }
    return true;
  }

  std::optional<Candidates> candidates_of(const Step& step, ValueId next) const {
    const Node& leader = graph_.node(step.leader.value);
    const Node& node = graph_.node(next);
    switch (reduction_of(node.op)) {
      case graph::Reduction::pixel_products:
        if (!leader.operands.empty() && node.operands[1] == leader.operands[0]) {
          return Candidates{Ride::shares_operand, {next}};
        }
        return std::nullopt;
      case graph::Reduction::pixels:
        return reduces(step.leader.value, node)
                   ? std::optional(Candidates{Ride::reduces_result, {next}})
                   : std::nullopt;
      case graph::Reduction::none:
        break;
    }
    if (overwrite_of(node.op) == graph::Overwrite::first_operand && step.riders.empty()) {
      return updates_from(step.leader.value, next);
    }
    const bool maps = locality_of(node.op) == graph::Locality::pixel &&
                      node.operands[0] == step.leader.value && node.layout != graph::Layout::plain;
    return maps ? std::optional(Candidates{Ride::maps_result, {next}}) : std::nullopt;
  }

  /// Do its rows need no others of the leader's result than those that have just been written?
  bool reduces(ValueId leader, const Node& node) const {
    const bool reads_leader =
        std::any_of(node.operands.begin(), node.operands.end(),
                    [&](ValueId operand) { return reads(graph_, operand, leader); });
    return reads_leader &&
           std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
             return graph_.node(operand).layout == graph::Layout::plain ||
                    reads_same_pixel(graph_, operand, leader);
           });
  }

  /// A chain of updates from a gradient that nobody else reads: a moment, a step.
  std::optional<Candidates> updates_from(ValueId gradient, ValueId next) const {
    if (is_output(graph_, gradient) || readers_[gradient.index()].size() != 1) {
      return std::nullopt;
    }
    Candidates updates{Ride::updates_state, {}};
    ValueId last = gradient;
    for (std::size_t i = next.index(); i < graph_.size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (overwrite_of(node.op) != graph::Overwrite::first_operand || node.operands.size() < 2 ||
          node.operands[1] != last) {
        break;
      }
      updates.riders.emplace_back(i);
      last = ValueId(i);
    }
    return updates.riders.empty() ? std::nullopt : std::optional(std::move(updates));
  }

  const Graph& graph_;
  const TargetInfo& target_;
  FixedValues fixed_;
  std::vector<std::vector<ValueId>> readers_;
  std::vector<Step> steps_;
  std::set<ValueId> taken_;
};

/// Groups as many neighbours as the target can run side by side.
class Grouper {
 public:
  Grouper(const Graph& graph, const TargetInfo& target, const std::vector<Step>& steps)
      : graph_(graph), target_(target), steps_(steps) {}

  std::vector<StepGroup> group() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Part part = target_.part_of_group(graph_, steps_[i]);
      if (current_ && (part.parts != current_->parts || reads_unfinished(steps_[i]))) {
        close();
      }
      if (part.parts == 0) {
        continue;
      }
      if (!current_) {
        current_ = StepGroup{i, i, part.parts};
      }
      current_->last = i;
      has_images_ = has_images_ || part.has_images;
      if (part.joined_last) {
        unfinished_.insert(steps_[i].leader.value);
      }
    }
    close();
    return std::move(groups_);
  }

 private:
  void close() {
    if (current_ && has_images_ && current_->first != current_->last) {
      groups_.push_back(*current_);
    }
    current_.reset();
    unfinished_.clear();
    has_images_ = false;
  }

  bool reads_unfinished(const Step& step) const {
    const auto reads_it = [&](const Computed& computed) {
      return std::any_of(
          computed.expression.terms.begin(), computed.expression.terms.end(),
          [&](const Expression::Term& term) { return unfinished_.contains(term.value); });
    };
    return reads_it(step.leader) ||
           std::any_of(step.riders.begin(), step.riders.end(),
                       [&](const Rider& rider) { return reads_it(rider.computed); });
  }

  const Graph& graph_;
  const TargetInfo& target_;
  const std::vector<Step>& steps_;
  std::vector<StepGroup> groups_;
  std::optional<StepGroup> current_;
  std::set<ValueId> unfinished_;  // of the current group: there only when all of it is done
  bool has_images_ = false;
};

}  // namespace

bool is_computed_and_stored(const Node& node) {
  return node.stored && op_if<graph::Input>(node) == nullptr &&
         op_if<graph::State>(node) == nullptr;
}

StepList make_steps(const Graph& graph, const TargetInfo& target) {
  StepList list;
  list.steps = StepMaker(graph, target).make();
  list.groups = Grouper(graph, target, list.steps).group();
  return list;
}

}  // namespace cosmic::compile
