// A prediction in words, for someone who has to decide whether to buy time on a machine: does it
// fit, how fast is it, what bounds it, and what does the answer rest on. Every figure is marked.
#pragma once

#include <string>
#include <vector>

#include "machine/prediction.hpp"

namespace cosmic::machine {

/// What a prediction is about.
struct ExplainedRun {
  std::string what;   ///< "a21, training, bfloat16"
  double events = 1;  ///< of one step, on all replicas
};

/// Some 30 lines.
std::string explanation(const Description& machine, const Prediction& prediction,
                        const ExplainedRun& run);

/// One row of a table of predictions.
struct ComparedRun {
  std::string label;
  Prediction prediction;
  double events = 1;
};

/// A table: label, verdict, memory, step and events a second, what bounds it.
std::string comparison(const std::string& first_column, const std::vector<ComparedRun>& runs);

}  // namespace cosmic::machine
