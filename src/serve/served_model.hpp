// One version of a model: weights that are ready to tag events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "data/dense_image.hpp"
#include "serve/network_runner.hpp"
#include "serve/scheduler.hpp"
#include "serve/statistics.hpp"

namespace cosmic::serve {

/// How networks are run, the same for all models of a server.
struct ServingOptions {
  data::ImageMeta grid;                      ///< of the events as they are sent
  std::vector<std::int64_t> batch_sizes{1};  ///< ascending
  int replicas = 1;                          ///< of each model
  int threads = 1;                           ///< of each replica
  std::vector<int> devices{0};               ///< replicas take them in turn
  std::int64_t queue_events = 64;
  std::chrono::microseconds delay{0};
};

/// What makes a model of weights: its settings, and the target that computes it.
struct ModelSource {
  std::string name;
  std::int64_t version = 1;
  std::filesystem::path weights;
};

class ServedModel {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Reads the weights, compiles and tags one empty event with each replica, so that the first
  /// request finds it warm. Throws Error.
  ServedModel(const ModelSource& source, const config::Configuration& configuration,
              const std::string& target, const ServingOptions& options, ComputeSlots& slots,
              const Warn& warn);

  const std::string& name() const { return name_; }
  std::int64_t version() const { return version_; }
  /// "18ab...": the same for the same weights and settings, whatever file they come from.
  const std::string& fingerprint() const { return fingerprint_; }
  std::int64_t step() const { return step_; }

  const data::ImageMeta& grid() const { return options_.grid; }
  /// What the network sees of it.
  const data::DenseShape& shape() const { return shape_; }
  const data::DenseOptions& image_options() const { return image_options_; }
  const ServingOptions& options() const { return options_; }
  const std::string& target() const { return target_; }
  /// Of larcv3 files.
  const std::string& image_producer() const { return image_producer_; }

  /// Tags the call and counts it. Throws Refusal.
  void tag(const std::shared_ptr<TaggingCall>& call, const std::function<bool()>& cancelled) const;

  std::int64_t waiting() const { return scheduler_->waiting(); }
  ModelStatistics statistics() const { return statistics_.now(); }
  /// A request for it that never became a call.
  void count_refused(Reason reason, double seconds) const {
    statistics_.add_failure(reason, seconds);
  }
  /// Takes no more calls, and returns when all are answered.
  void drain() const { scheduler_->drain(); }

 private:
  std::string name_;
  std::int64_t version_;
  ServingOptions options_;
  std::string target_;
  std::string image_producer_;
  data::DenseOptions image_options_;
  data::DenseShape shape_;
  std::string fingerprint_;
  std::int64_t step_ = 0;
  mutable StatisticsKeeper statistics_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace cosmic::serve
