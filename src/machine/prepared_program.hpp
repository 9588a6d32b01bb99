// A program with all that does not depend on the machine worked out, for whoever predicts it for
// many machines or with many values of a figure.
#pragma once

#include "machine/liveness.hpp"
#include "machine/prediction.hpp"
#include "machine/workload.hpp"

namespace cosmic::machine {

struct PreparedProgram {
  explicit PreparedProgram(graph::Graph program);

  graph::Graph graph;
  Workload workload;
  Liveness liveness;
};

Prediction predict(const Description& machine, const PreparedProgram& program,
                   const ExecutionOptions& options);

/// Without error bars, hence without a forecast for each end of each range. Options and formats are
/// taken to be what the machine can do.
struct BestEstimate {
  ModelledTime step;
  ModelledBytes needed;
};

BestEstimate best_estimate(const Description& machine, const PreparedProgram& program,
                           const ExecutionOptions& options);

}  // namespace cosmic::machine
