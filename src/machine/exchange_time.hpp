// How long replicas need to all-reduce their gradients. Each of n machines sends and receives
// 2 (n - 1) / n of the bytes over a link: in a ring in 2 (n - 1) steps, directly in two rounds for
// each bucket (see Exchange). Where links differ, the machines of a node first give each of them a
// part of the sum, nodes then add up part by part, and so on outwards; the whole sum comes back the
// same way.
#pragma once

#include <vector>

#include "machine/prediction.hpp"

namespace cosmic::machine {

/// What replicas agree on.
struct Exchanged {
  double gradients = 0;              ///< bytes, once per update
  std::vector<double> buckets = {};  ///< of them, as large as they go at once over a direct link
  /// Bytes of each batch statistic that they share; each is exchanged forwards and backwards, in
  /// every run of the program.
  std::vector<double> statistics = {};
};

/// The time of it, for each run of the program, over the replicas of `options`, each with as many
/// machines as its pipeline has. It is assumed not to overlap with computing. Machines without
/// described links are a ring and share `bandwidth`, without a cost per step. Throws UserError if
/// the links do not join that many machines.
double exchange_seconds(const Description& machine, const Exchanged& exchanged,
                        const ExecutionOptions& options, double bandwidth);

/// Can that many replicas reach each other?
bool links_reach(const Description& machine, const ExecutionOptions& options);

}  // namespace cosmic::machine
