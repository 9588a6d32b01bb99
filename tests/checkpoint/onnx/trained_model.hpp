// Networks small enough for a blink, with weights that leave no part of them without effect.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::checkpoint::onnx {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kColumns = 24;

/// A preset with few channels and levels.
inline model::UResNetOptions reduced(const std::string& preset) {
  model::UResNetOptions options = model::preset(preset);
  options.n_initial_filters = 4;
  options.depth = 3;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 2;
  options.blocks_final = std::min<std::int64_t>(options.blocks_final, 1);
  options.bottleneck_deepest = 12;
  return options;
}

inline graph::TensorType image_type(std::int64_t batch) {
  return {graph::DType::f32, {batch, 3, kRows, kColumns}};
}

/// Statistics and biases that nobody has seen are 0 or 1, which would hide mistakes.
inline void disturb(session::ModelState& state) {
  for (const std::string& name : state.names()) {
    session::Tensor tensor = state.read(name);
    const bool is_weight = name.ends_with(".weight") && tensor.type.rank() > 1;
    if (tensor.type.dtype != graph::DType::f32 || is_weight ||
        state.kind(name) == graph::StateKind::optimizer) {
      continue;
    }
    const bool is_scale = name.ends_with("running_var") || name.ends_with(".weight");
    RandomStream random(3, name);
    for (float& element : tensor.as<float>()) {
      element = static_cast<float>(is_scale ? random.uniform(0.5, 2) : random.uniform(-0.5, 0.5));
    }
    state.write(name, tensor);
  }
}

/// Compiled for a batch of `batch`; the network is only needed while compiling.
inline session::InferenceModel trained_model(const model::UResNet& network,
                                             std::int64_t batch = 1) {
  session::Options options;
  options.threads = 1;
  session::InferenceModel inference(network, options);
  inference.compile(image_type(batch));
  disturb(*inference.state());
  return inference;
}

}  // namespace cosmic::checkpoint::onnx
