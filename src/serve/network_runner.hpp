// A network with its weights, compiled for a few batch sizes: what a replica runs.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "model/uresnet.hpp"
#include "serve/scheduler.hpp"
#include "session/model.hpp"

namespace cosmic::serve {

struct NetworkChoices {
  config::Configuration configuration;  ///< with the settings that belong to the weights
  std::string target;
  data::ImageMeta grid;                   ///< of the events as they are sent
  std::vector<std::int64_t> batch_sizes;  ///< ascending
};

class NetworkRunner final : public BatchRunner {
 public:
  /// Compiles, and takes the weights. `threads` and `device` are this replica's.
  NetworkRunner(const NetworkChoices& choices, const checkpoint::Checkpoint& weights, int threads,
                int device);

  const std::vector<std::int64_t>& batch_sizes() const override { return sizes_; }
  BatchTimes run(std::span<EventWork* const> events, std::span<const Wanted> wanted,
                 std::int64_t size) override;

 private:
  /// The result of an event, or why there is none.
  void finish(EventWork& work, const Wanted& wanted, std::span<const float> charge,
              const std::array<std::span<const float>, infer::kPlanes>& logits);

  model::UResNet network_;
  std::vector<std::int64_t> sizes_;
  int downsample_;
  data::DenseConverter converter_;
  double temperature_;  ///< of the weights
  std::deque<session::InferenceModel> models_;  ///< of each size; they share their weights
  std::vector<float> images_;
  std::vector<std::uint8_t> no_labels_;
  std::vector<std::uint8_t> classes_;
  data::SparseEvent event_;
};

}  // namespace cosmic::serve
