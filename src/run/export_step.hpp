// A training step of a run as an ONNX file: forward pass and loss, or the whole step.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "checkpoint/onnx/onnx_graph.hpp"
#include "core/pending_file.hpp"
#include "model/enum_text.hpp"
#include "run/export_weights.hpp"

namespace cosmic::run {

/// What an exported file computes.
enum class ExportedProgram { inference, loss, training };

struct StepRequest {
  ExportSource source = {};
  ExportedProgram program = ExportedProgram::training;  ///< not inference
  std::filesystem::path output = {};
  int opset = checkpoint::onnx::kNewestOpset;
  std::int64_t batch = 0;  ///< events of a step; 0 for run.minibatch_size
  std::int64_t rows = 0;   ///< of an image; 0 for the detector's, as data.downsample halves it
  std::int64_t columns = 0;
  Existing existing = Existing::refuse;
};

struct ExportedStep {
  std::string network;
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Where the state that a whole step begins with is written: the same name, ending in .safetensors.
std::filesystem::path state_beside(const std::filesystem::path& output);

/// A whole step comes with a second file, state_beside(output). Throws UserError for settings that
/// such a step cannot follow, DataError if the weights do not belong to the network.
ExportedStep export_step(const StepRequest& request, const ExportHooks& hooks);

}  // namespace cosmic::run

namespace cosmic::model {

template <>
struct EnumText<run::ExportedProgram> {
  static constexpr std::string_view key = "--step";
  static constexpr std::array<std::string_view, 3> names{"inference", "loss", "training"};
};

}  // namespace cosmic::model
