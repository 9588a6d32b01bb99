// Several trainings from one command line: `train --multirun mode.optimizer.learning_rate=1e-3,3e-4
// run.seed=1,2` is four of them.
#pragma once

#include <string>
#include <vector>

namespace cosmic::cli {

struct SweepJob {
  std::vector<std::string> words;    ///< the command line of one training
  std::vector<std::string> changed;  ///< the settings that tell it from the others
};

/// Every combination of the values that are separated by commas, the last setting changing fastest;
/// commas inside brackets or quotes belong to a value. Job n has "-n" behind its run.id, and a
/// folder n of its own in output_dir if that is given. Throws UserError if nothing is varied.
std::vector<SweepJob> sweep_jobs(const std::vector<std::string>& words);

}  // namespace cosmic::cli
