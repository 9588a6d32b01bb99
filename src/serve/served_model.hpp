// One version of a model: replicas that are ready to tag events, and what is known about them. It
// does not know what a replica is: weights become one in served_network.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/provenance.hpp"
#include "data/dense_image.hpp"
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

/// Which network a model is: a name, a version, and a file or a folder of checkpoints.
struct ModelSource {
  std::string name;
  std::int64_t version = 1;
  std::filesystem::path weights;
};

/// What is told about a model beside how it is run.
struct ModelIdentity {
  std::string name;
  std::int64_t version = 1;
  /// "18ab...": the same for the same weights and settings, whatever file they come from.
  std::string fingerprint;
  std::int64_t step = 0;
  std::string target;
  Provenance provenance;             ///< of every time that is told
  std::string image_producer;        ///< of larcv3 files
  data::DenseOptions image_options;  ///< what the network sees of the events
};

class ServedModel {
 public:
  /// Makes the replicas with `make`. Throws what it throws.
  ServedModel(ModelIdentity identity, const ServingOptions& options, ComputeSlots& slots,
              const Scheduler::MakeRunner& make);

  const std::string& name() const { return identity_.name; }
  std::int64_t version() const { return identity_.version; }
  const std::string& fingerprint() const { return identity_.fingerprint; }
  std::int64_t step() const { return identity_.step; }

  const data::ImageMeta& grid() const { return options_.grid; }
  /// What the network sees of it.
  const data::DenseShape& shape() const { return shape_; }
  const data::DenseOptions& image_options() const { return identity_.image_options; }
  const ServingOptions& options() const { return options_; }
  const std::string& target() const { return identity_.target; }
  Provenance provenance() const { return identity_.provenance; }
  const std::string& image_producer() const { return identity_.image_producer; }

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
  ModelIdentity identity_;
  ServingOptions options_;
  data::DenseShape shape_;
  mutable StatisticsKeeper statistics_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace cosmic::serve
