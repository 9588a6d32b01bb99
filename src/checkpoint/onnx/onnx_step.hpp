// A training step as a file of standard ONNX nodes, at a fixed batch and in float32, for runtimes
// that know nothing about training.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "checkpoint/onnx/onnx_graph.hpp"
#include "compile/optimizer.hpp"
#include "model/network.hpp"
#include "session/model_state.hpp"

namespace cosmic::checkpoint::onnx {

struct StepOptions {
  int opset = kNewestOpset;
  std::int64_t batch = 2;
  std::int64_t rows = 640;
  std::int64_t columns = 1024;
  std::map<std::string, std::string> metadata = {};  ///< travels with the model, for people
};

/// What a state is called when it comes out of a step.
std::string next_name(const std::string& state);

/// Forward pass and loss with the statistics of the batch, for who differentiates it himself.
/// Inputs: `image` f32 and `label` i32, both [batch, 3, rows, columns]. Weights are constants.
/// Outputs: `loss`, and the running statistics after the step (next_name). Throws UserError if the
/// state belongs to another network.
std::string encode_loss(const model::Network& network, const model::Loss& loss,
                        const session::ModelState& state, const StepOptions& options);

/// The whole step. Inputs: `image`, `label`, `learning_rate` (f32 without axes), and every state:
/// weights, running statistics, moments, counters. Outputs: `loss`, and every state after the step
/// (next_name). Where the loss is not finite the states come out as they went in.
std::string encode_training_step(const model::Network& network, const model::Loss& loss,
                                 const compile::Optimizer& optimizer, const StepOptions& options);

}  // namespace cosmic::checkpoint::onnx
