#include "target/target.hpp"

#include "core/error.hpp"

namespace cosmic::target {

std::string to_string(Provenance provenance) {
  return provenance == Provenance::measured ? "measured" : "modelled";
}

void require_support(const Target& target, const graph::Graph& graph) {
  std::string refusals;
  graph::for_each_node(graph, [&](graph::ValueId id, const graph::Node& node) {
    if (const Support support = target.supports(graph, id); !support.ok) {
      refusals += "\n  " + std::string(graph::name_of(node.op)) + " at '" + node.name +
                  "': " + support.why_not;
    }
  });
  COSMIC_REQUIRE(
      TargetError, refusals.empty(),
      "target '" << target.name() << "' cannot run this program (nothing runs elsewhere "
                 << "in its place); choose another target or change the model:" << refusals);
}

}  // namespace cosmic::target
