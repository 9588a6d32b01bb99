// The gradient of a linear layer's weights together with the update that it is for. The gradient is
// never stored: its elements are used while they are in registers, and the weights and their
// moments are the only large things in memory that such a step touches.
#pragma once

#include <memory>
#include <vector>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

/// The Moment and the SgdStep right after a product that is read by nothing else, which the step of
/// the product can compute on the way. Empty if there are none.
std::vector<graph::ValueId> updates_by(const Memory& memory, graph::ValueId product);

std::unique_ptr<Step> make_updating_product_step(const Memory& memory, graph::ValueId product,
                                                 const std::vector<graph::ValueId>& updates);

}  // namespace cosmic::target::cpu
