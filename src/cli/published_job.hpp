// What `cosmictagger monitor` sees of a command while it runs. A command that cannot be published
// (no folder for its record) says so in its log and continues.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/configuration.hpp"
#include "infer/inference.hpp"
#include "machine/event_rate.hpp"
#include "monitor/job_publisher.hpp"
#include "output/run_log.hpp"
#include "train/training.hpp"

namespace cosmic::cli {

/// A job on this target, for this machine if the target is modelled and not for its usual one, and
/// on this of its devices. What it is and where its files are is left to the caller.
monitor::JobDescription job_on(const std::string& target, const std::string& machine,
                               int device = 0);

std::optional<monitor::ModelledRate> modelled_rate(const std::optional<machine::EventRate>& rate);

class PublishedJob {
 public:
  /// `target` is the name of the target that the command runs on.
  PublishedJob(const std::string& command, const config::Configuration& configuration,
               const std::string& target, output::RunLog& log);
  /// Of a command that writes no files: it has no log, and says what there is to say on the error
  /// stream.
  PublishedJob(const std::string& command, const config::Configuration& configuration,
               const std::string& target);
  /// Of any program.
  explicit PublishedJob(const monitor::JobDescription& description);

  void compiling() { publish({.state = monitor::JobState::compiling}); }
  void show(const train::TrainingProgress& progress);
  void show(const infer::InferenceProgress& progress);
  void publish(const monitor::JobProgress& progress) {
    if (publisher_) {
      publisher_->update(progress);
    }
  }

 private:
  void start(const monitor::JobDescription& description,
             const std::function<void(const std::string&)>& warn);

  std::optional<monitor::JobPublisher> publisher_;
};

}  // namespace cosmic::cli
