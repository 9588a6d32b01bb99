// How long replicas need to all-reduce their gradients. Each of n machines in a ring sends and
// receives 2 (n - 1) / n of the bytes in 2 (n - 1) steps. Where links differ, the machines of a
// node first give each of them a part of the sum, nodes then add up part by part, and so on
// outwards; the whole sum comes back the same way.
#pragma once

#include <vector>

#include "machine/prediction.hpp"

namespace cosmic::machine {

/// The time of one all-reduce of `bytes` over the replicas of `options`, each with as many machines
/// as its pipeline has. It is assumed not to overlap with computing. Machines without described
/// links share `bandwidth`, without a cost per step. Throws UserError if the links do not join that
/// many machines.
double ring_seconds(const Description& machine, double bytes, const ExecutionOptions& options,
                    double bandwidth);

/// What replicas agree on.
struct Exchanged {
  double gradients = 0;  ///< bytes, once per update
  /// Bytes of each batch statistic that they share; each is exchanged forwards and backwards, in
  /// every run of the program.
  std::vector<double> statistics = {};
};

/// The time of it, for each run of the program.
double exchange_seconds(const Description& machine, const Exchanged& exchanged,
                        const ExecutionOptions& options, double bandwidth);

/// Can that many replicas reach each other?
bool links_reach(const Description& machine, const ExecutionOptions& options);

}  // namespace cosmic::machine
