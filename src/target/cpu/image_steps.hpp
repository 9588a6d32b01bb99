// Steps on blocked images other than convolutions.
#pragma once

#include <memory>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

// Each makes the step that computes the value `id`, whose op its name tells.

std::unique_ptr<Step> make_map_step(const Memory& memory, graph::ValueId id);  ///< any local op
std::unique_ptr<Step> make_max_pool_gradient_step(const Memory& memory, graph::ValueId id);
std::unique_ptr<Step> make_upsample_gradient_step(const Memory& memory, graph::ValueId id);
/// Concat, Slice, Embed, PlanesToChannels, ChannelsToPlanes: images and channels picked from
/// others.
std::unique_ptr<Step> make_gather_step(const Memory& memory, graph::ValueId id);
std::unique_ptr<Step> make_reorder_step(const Memory& memory, graph::ValueId id);

}  // namespace cosmic::target::cpu
