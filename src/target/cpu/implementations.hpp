// The ways in which a step can be computed, in order of preference. Each says of a step whether it
// is for it, and if not, why; the first that is runs. `cosmictagger graph --steps` shows the list.
//
// A way states the width of its vectors and the formats of its products and sums. That is the door
// for kernels with wider vectors or products in 16 bits: a line in front of the general one.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/number_format.hpp"
#include "core/support.hpp"
#include "target/cpu/prepared_step.hpp"
#include "target/target.hpp"

namespace cosmic::target::cpu {

/// What a kernel multiplies and adds.
struct Arithmetic {
  enum class Sums { float32, rounded };

  std::int64_t lanes = 8;  ///< floats of a vector; the layout of images is made for it
  NumberFormat products = NumberFormat::f32;
  Sums sums = Sums::float32;  ///< rounded: to graph::partials_of, group by group
};

struct Implementation {
  std::string_view name;
  Arithmetic arithmetic;
  Support (*can)(const graph::Graph& graph, const compile::Step& step);
  std::unique_ptr<PreparedStep> (*make)(const Memory& memory, const compile::Step& step,
                                        const Team& team);
};

/// All ways to compute what this op leads, the most special first.
std::span<const Implementation> implementations_of(const graph::AnyOp& op);

/// The same, each with its answer for this step. At most one of those that can is used: the first.
std::vector<KernelChoice> choices_for(const graph::Graph& graph, const compile::Step& step);

/// Throws TargetError listing every way with its reason if there is none.
const Implementation& choose(const graph::Graph& graph, const compile::Step& step);

/// Can this target run the node, in whatever layout, and if not, why?
Support supports_node(const graph::Graph& graph, graph::ValueId id);

}  // namespace cosmic::target::cpu
