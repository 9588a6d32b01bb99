// How long replicas need to add up their gradients. Each of n machines in a ring sends and receives
// 2 (n - 1) / n of the bytes in 2 (n - 1) steps. Where links differ, the machines of a node first
// give each of them a part of the sum, nodes then add up part by part, and so on outwards; the
// whole sum comes back the same way.
#pragma once

#include "machine/prediction.hpp"

namespace cosmic::machine {

/// Of one all-reduce of `bytes` over the replicas of `options`, each as many machines as its
/// pipeline has. Nothing of it is taken to happen while the machines compute. Machines without
/// described links share `bandwidth`, without a cost for each step. Throws UserError if the links
/// do not join so many.
double ring_seconds(const Description& machine, double bytes, const ExecutionOptions& options,
                    double bandwidth);

/// Can that many replicas reach each other?
bool links_reach(const Description& machine, const ExecutionOptions& options);

}  // namespace cosmic::machine
