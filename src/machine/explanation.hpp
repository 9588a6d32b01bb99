// A prediction in words, for someone who has to decide whether to buy time on a machine: what is
// supported, does it fit, how fast is it, what bounds it, what would change it, and what does the
// answer rest on. Every figure is marked.
#pragma once

#include <string>
#include <vector>

#include "machine/prediction.hpp"

namespace cosmic::machine {

/// One prediction among several, or the reason why there is none.
struct ComparedRun {
  std::string label;
  Prediction prediction;
  double events = 1;         ///< of one step, on all replicas
  int machines = 1;          ///< that it takes
  std::string refused = {};  ///< if the machine cannot do it

  /// Events per second.
  double modelled_events() const;
};

/// What a prediction is about.
struct ExplainedRun {
  std::string what;                       ///< "a21, training, bfloat16"
  ComparedRun run;                        ///< its label is not used
  std::vector<ComparedRun> changes = {};  ///< the same with one thing changed, for comparison
};

/// Some 50 lines.
std::string explanation(const Description& machine, const ExplainedRun& explained);

/// A table: label, verdict, memory, step and events a second, what bounds it.
std::string comparison(const std::string& first_column, const std::vector<ComparedRun>& runs);

/// "4.50 GB", for where a heading says that all figures are modelled.
std::string short_text(ModelledBytes bytes);

/// What a machine can do at all: formats, ways to execute; one line each.
std::string abilities(const Description& machine);

/// What bounds a step, as a sentence with its remedy.
std::string remedy(Bound bound);

}  // namespace cosmic::machine
