#include "train/training.hpp"

#include "train/training_run.hpp"

namespace cosmic::train {

TrainingSummary train(const config::Configuration& configuration, const std::string& target,
                      output::RunLog& log, const TrainingHooks& hooks,
                      comm::Communicator* communicator) {
  return TrainingRun(configuration, target, log, hooks, communicator).run();
}

DryRun dry_run(const config::Configuration& configuration, const std::string& target,
               output::RunLog& log, const TrainingHooks& hooks) {
  return TrainingRun(configuration, target, log, hooks, nullptr, Files::untouched).looked_at();
}

}  // namespace cosmic::train
