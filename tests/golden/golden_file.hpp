// One golden file: a network, a batch, and what the reference computed from them. The schema is in
// README.md next to this file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compile/optimizer.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet_options.hpp"
#include "session/tensor.hpp"

namespace cosmic::golden {

using Scores = std::map<std::string, double>;

struct GoldenFile {
  model::UResNetOptions network;
  model::BalanceScheme scheme = model::BalanceScheme::focal;
  compile::Optimizer optimizer;
  double learning_rate = 0;

  session::Tensor image;
  session::Tensor label;

  session::NamedTensors initial_state;
  std::vector<float> initial_eval_logits;  ///< planes one after the other, as the network's

  std::vector<float> train_logits;
  session::NamedTensors gradients;
  session::NamedTensors state_after_first_step;
  Scores first_scores;

  std::vector<double> losses;

  session::NamedTensors final_state;  ///< after as many steps as there are losses
  std::vector<float> final_eval_logits;
  Scores final_scores;  ///< of the final evaluation logits
};

/// Throws DataError naming the file and what it lacks.
GoldenFile read_golden_file(const std::filesystem::path& path);

/// What the reference computed from its own checkpoint, model-5.ckpt.
struct ReferenceRun {
  session::Tensor image;
  session::Tensor label;
  std::vector<float> eval_logits;      ///< planes one after the other
  std::vector<double> resumed_losses;  ///< of steps 5 to 9
};

ReferenceRun read_reference_run(const std::filesystem::path& path);

}  // namespace cosmic::golden
