#include "compile/step.hpp"

#include "core/error.hpp"

namespace cosmic::compile {

using graph::Graph;
using graph::Node;
using graph::ValueId;

std::string_view to_string(Ride ride) {
  switch (ride) {
    case Ride::reduces_result:
      return "reduces the result";
    case Ride::maps_result:
      return "maps the result";
    case Ride::updates_state:
      return "updates a state";
    case Ride::shares_operand:
      return "shares the operand";
  }
  throw InternalError("a ride has no name");
}

std::string_view to_string(RoundedWhen when) {
  switch (when) {
    case RoundedWhen::never:
      return "not rounded";
    case RoundedWhen::as_written:
      return "as it is written";
    case RoundedWhen::complete:
      return "when it is complete";
  }
  throw InternalError("a time of rounding has no name");
}

namespace {

std::string label(ValueId value) {
  return "%" + std::to_string(value.index());
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), computed_(graph.size(), false) {}

  void take(const Computed& computed) {
    const ValueId value = computed.value;
    COSMIC_REQUIRE(
        InternalError, value.index() < graph_.size(),
        "a step computes " << label(value) << " of a program with " << graph_.size() << " values");
    const Node& node = graph_.node(value);
    COSMIC_REQUIRE(
        InternalError,
        is_computed_and_stored(node) && !computed_[value.index()] && value.index() >= next_,
        "a step computes " << label(value) << " (twice, out of order, or though it is not stored)");
    COSMIC_REQUIRE(InternalError, computed.expression == expression_of(graph_, value),
                   "the step of " << label(value) << " reads something else than its operands");
    COSMIC_REQUIRE(InternalError,
                   (computed.rounded == RoundedWhen::never) == (node.format == NumberFormat::f32),
                   "the step of " << label(value) << " rounds it '" << to_string(computed.rounded)
                                  << "' (it is kept as " << cosmic::to_string(node.format) << ")");
    computed_[value.index()] = true;
    next_ = value.index() + 1;
  }

  void require_all_computed() const {
    for_each_node(graph_, [&](ValueId id, const Node& node) {
      COSMIC_REQUIRE(InternalError, !is_computed_and_stored(node) || computed_[id.index()],
                     "no step computes " << label(id) << ", which is stored");
    });
  }

 private:
  const Graph& graph_;
  std::vector<bool> computed_;
  std::size_t next_ = 0;
};

void verify_groups(const StepList& list) {
  std::size_t next = 0;
  for (const StepGroup& group : list.groups) {
    COSMIC_REQUIRE(InternalError,
                   group.first >= next && group.first < group.last &&
                       group.last < list.steps.size() && group.parts > 0,
                   "steps " << group.first << " to " << group.last << " in " << group.parts
                            << " parts are no group (there are " << list.steps.size()
                            << " steps, and the group before ends at " << next << ")");
    next = group.last + 1;
  }
}

}  // namespace

void verify(const StepList& list, const Graph& graph) {
  Verifier verifier(graph);
  for (const Step& step : list.steps) {
    verifier.take(step.leader);
    for (const Rider& rider : step.riders) {
      verifier.take(rider.computed);
    }
    const std::size_t operands = graph.node(step.leader.value).operands.size();
    COSMIC_REQUIRE(
        InternalError, operands < 32 && step.fixed_operands >> operands == 0,
        "the step of " << label(step.leader.value) << " prepares an operand that it does not have");
  }
  verifier.require_all_computed();
  verify_groups(list);
}

namespace {

/// "%46 statistics(%45) : f32[2x3x8]  # encoder.0"
std::string computed_text(const Computed& computed, const Graph& graph) {
  const Node& node = graph.node(computed.value);
  std::string text = label(computed.value) + " = " + to_text(TermView(graph, computed.expression)) +
                     " : " + graph::to_string(node.type);
  if (node.layout != graph::Layout::plain) {
    text += ' ' + graph::to_string(node.layout);
  }
  if (computed.rounded != RoundedWhen::never) {
    text += ", rounded to " + cosmic::to_string(node.format) + ' ' +
            std::string(to_string(computed.rounded));
  }
  return text;
}

}  // namespace

std::string to_text(const Step& step, const Graph& graph) {
  std::string text =
      computed_text(step.leader, graph) + "  # " + graph.node(step.leader.value).name + '\n';
  for (const Rider& rider : step.riders) {
    text += "    rides: " + computed_text(rider.computed, graph) + " (" +
            std::string(to_string(rider.ride)) + ")\n";
  }
  if (step.fixed) {
    text += "    fixed: computed when the state changes, not in every run\n";
  }
  if (step.fixed_operands != 0) {
    text += "    fixed: prepares";
    const auto& operands = graph.node(step.leader.value).operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if ((step.fixed_operands >> i & 1U) != 0) {
        text += ' ' + label(operands[i]);
      }
    }
    text += " when the state changes\n";
  }
  return text;
}

std::string to_text(const StepList& list, const Graph& graph) {
  std::string text;
  auto group = list.groups.begin();
  for (std::size_t i = 0; i < list.steps.size(); ++i) {
    if (group != list.groups.end() && i == group->first) {
      text += "side by side, in " + std::to_string(group->parts) + " parts, steps " +
              std::to_string(group->first) + " to " + std::to_string(group->last) + ":\n";
    }
    text += "step " + std::to_string(i) + ": " + to_text(list.steps[i], graph);
    if (group != list.groups.end() && i == group->last) {
      ++group;
    }
  }
  return text;
}

}  // namespace cosmic::compile
