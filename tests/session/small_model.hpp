// A network small enough to compile and run in a blink, with every kind of layer on its way, and
// batches for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::session {

inline model::UResNetOptions small_network() {
  model::UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 6;
  options.connections = model::Connections::concat;
  return options;
}

struct Batch {
  std::vector<float> image;
  std::vector<std::uint8_t> label;
};

/// Large enough that the convolutions are worth several threads.
inline const BatchTypes& small_types() {
  static const BatchTypes types{{graph::DType::f32, {2, 3, 32, 48}},
                                {graph::DType::u8, {2, 3, 32, 48}}};
  return types;
}

/// For targets that take their time.
inline const BatchTypes& tiny_types() {
  static const BatchTypes types{{graph::DType::f32, {2, 3, 8, 12}},
                                {graph::DType::u8, {2, 3, 8, 12}}};
  return types;
}

/// `batches` batches one after the other, drawn from `stream`.
inline Batch small_batch(const std::string& stream, std::int64_t batches = 1,
                         const BatchTypes& types = small_types()) {
  RandomStream random(7, stream);
  const auto pixels = static_cast<std::size_t>(types.image.elements() * batches);
  Batch batch{std::vector<float>(pixels), std::vector<std::uint8_t>(pixels)};
  for (std::size_t i = 0; i < pixels; ++i) {
    batch.image[i] = static_cast<float>(random.uniform(0, 2));
    batch.label[i] = static_cast<std::uint8_t>(random.uniform(0, 3));
  }
  return batch;
}

inline Options options_for(const std::string& target, int threads = 2) {
  Options options;
  options.target = target;
  options.threads = threads;
  return options;
}

inline TrainingModel compiled_training(const Options& options,
                                       const compile::Optimizer& optimizer = compile::Sgd{0.9},
                                       const model::UResNetOptions& network = small_network(),
                                       const BatchTypes& types = small_types()) {
  const model::UResNet uresnet(network);
  const model::SegmentationLoss loss(model::BalanceScheme::light);
  TrainingModel training(uresnet, loss, optimizer, options);
  training.compile(types);
  return training;
}

inline InferenceModel compiled_inference(const Options& options,
                                         std::shared_ptr<ModelState> state = nullptr,
                                         const model::UResNetOptions& network = small_network(),
                                         const BatchTypes& types = small_types()) {
  const model::UResNet uresnet(network);
  InferenceModel inference(uresnet, options, std::move(state));
  inference.compile(types.image);
  return inference;
}

}  // namespace cosmic::session
