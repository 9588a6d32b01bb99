#include "target/target.hpp"

#include "core/error.hpp"

namespace cosmic::target {

std::string to_string(Provenance provenance) {
  return provenance == Provenance::measured ? "measured" : "modelled";
}

Support Target::supports_precision(const compile::Precision& precision) const {
  return precision.format == NumberFormat::f32 && precision.partials == NumberFormat::f32
             ? Support::yes()
             : Support::no("it has no other number format than float32");
}

void require_support(const Target& target, const compile::Precision& precision) {
  const Support support = target.supports_precision(precision);
  COSMIC_REQUIRE(TargetError, support.ok,
                 "target '" << target.name() << "' cannot compute with precision.format "
                            << to_string(precision.format) << " and precision.partials "
                            << to_string(precision.partials) << ": " << support.why_not
                            << "; choose others, or a target that has them");
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
