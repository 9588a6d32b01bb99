// Scaling on paper: what 1 to 1,024 machines would achieve together, each with its own batch (weak
// scaling). A row is the prediction for as many replicas: gradients are all-reduced over
// the machine's links, and what else a family says about replicas counts, such as one host that
// feeds all of them. Waiting for the slowest machine and for files is not modelled.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine/prediction.hpp"

namespace cosmic::machine {

/// A number that came out of a formula, with its error bar.
struct ModelledNumber {
  double modelled = 0;
  double low = 0;
  double high = 0;
};

struct ScalingRow {
  int replicas = 1;
  int machines = 1;  ///< of all replicas
  ModelledRange step;
  ModelledTime all_reduce;  ///< its part of the step
  ModelledNumber events_per_second;
  ModelledNumber efficiency;  ///< against as many machines that need not agree
};

inline constexpr int kMostMachines = 1024;

/// The prediction of a run for so many replicas.
using PredictReplicas = std::function<Prediction(int replicas)>;

/// For 1, 2, 4, ... replicas, as far as links are described. A replica works on `events` in a step.
std::vector<ScalingRow> scaling(const Description& machine, const PredictReplicas& predict,
                                double events);

/// A table, and what it rests on.
std::string scaling_text(const Description& machine, const std::vector<ScalingRow>& rows,
                         const std::string& what_runs);

}  // namespace cosmic::machine
