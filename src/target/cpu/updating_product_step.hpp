// The gradient of a linear layer's weights together with the update that it is for. The gradient is
// never stored: its elements are used while they are in registers, and the weights and their
// moments are the only large things in memory that such a step touches.
#pragma once

#include <memory>
#include <span>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Can these ride on a product: its moment, and the step that takes it?
Support can_update(const graph::Graph& graph, graph::ValueId product,
                   std::span<const graph::ValueId> updates);

std::unique_ptr<PreparedStep> make_updating_product_step(const Memory& memory,
                                                         const compile::Step& step,
                                                         const Team& team);

}  // namespace cosmic::target::cpu
