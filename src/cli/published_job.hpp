// What `cosmictagger monitor` sees of a command while it runs. A command that cannot be published
// (no folder for its record) says so in its log and continues.
#pragma once

#include <optional>
#include <string>

#include "config/configuration.hpp"
#include "infer/inference.hpp"
#include "monitor/job_publisher.hpp"
#include "output/run_log.hpp"
#include "train/training.hpp"

namespace cosmic::cli {

class PublishedJob {
 public:
  /// `target` is the name of the target that the command runs on.
  PublishedJob(const std::string& command, const config::Configuration& configuration,
               const std::string& target, output::RunLog& log);

  void compiling() { publish({.state = monitor::JobState::compiling}); }
  void show(const train::TrainingProgress& progress);
  void show(const infer::InferenceProgress& progress);

 private:
  void publish(const monitor::JobProgress& progress) {
    if (publisher_) {
      publisher_->update(progress);
    }
  }

  std::optional<monitor::JobPublisher> publisher_;
};

}  // namespace cosmic::cli
