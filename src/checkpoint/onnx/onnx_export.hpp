// A trained network as an ONNX file, for those who run it elsewhere. The input is `image` [N, 3,
// rows, columns] in float32; the outputs are the logits of each plane, `logits_plane0` to
// `logits_plane2`, [N, 3 classes, rows, columns]. Weights keep the reference's names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "checkpoint/onnx/onnx_graph.hpp"
#include "core/pending_file.hpp"
#include "model/network.hpp"
#include "session/model_state.hpp"

namespace cosmic::checkpoint::onnx {

struct ExportOptions {
  int opset = kNewestOpset;
  std::int64_t rows = 640;
  std::int64_t columns = 1024;
  std::optional<std::int64_t> batch = {};  ///< events per run; left open if not given
  /// If given, the outputs are probabilities: logits are divided by it first. They are called
  /// probabilities_plane0 to 2 then.
  std::optional<double> softmax_temperature = {};
  std::map<std::string, std::string> metadata = {};  ///< travels with the model, for people
};

/// The bytes of the file: the network in evaluation with the weights of `state`. Throws UserError
/// if the state belongs to another network, or for a network that ONNX cannot express.
std::string encode_onnx(const model::Network& network, const session::ModelState& state,
                        const ExportOptions& options);

/// A reader sees the whole file or none.
void write_onnx(const std::filesystem::path& path, const model::Network& network,
                const session::ModelState& state, const ExportOptions& options,
                Existing existing = Existing::refuse);

}  // namespace cosmic::checkpoint::onnx
