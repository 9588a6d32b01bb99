// Steps on blocked images other than convolutions.
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

// Each makes the step of the op that its name tells. Threads are asked for while it runs: what it
// costs is moving pixels.

/// Any local op.
std::unique_ptr<PreparedStep> make_map_step(const Memory& memory, const compile::Step& step,
                                            const Team& team);
std::unique_ptr<PreparedStep> make_max_pool_gradient_step(const Memory& memory,
                                                          const compile::Step& step,
                                                          const Team& team);
std::unique_ptr<PreparedStep> make_upsample_gradient_step(const Memory& memory,
                                                          const compile::Step& step,
                                                          const Team& team);
/// Concat, Slice, Embed, PlanesToChannels, ChannelsToPlanes: images and channels picked from
/// others.
std::unique_ptr<PreparedStep> make_gather_step(const Memory& memory, const compile::Step& step,
                                               const Team& team);
std::unique_ptr<PreparedStep> make_reorder_step(const Memory& memory, const compile::Step& step,
                                                const Team& team);

}  // namespace cosmic::target::cpu
