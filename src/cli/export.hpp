// `cosmictagger export`: a trained network as an ONNX file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/onnx/onnx_export.hpp"
#include "core/pending_file.hpp"

namespace cosmic::cli {

struct ExportCommand {
  /// `network=a21 network.depth=3`: which network. May be left out for a checkpoint that remembers
  /// its configuration.
  std::vector<std::string> settings;
  std::filesystem::path weights;  ///< a checkpoint, a folder of them, or plain weights
  std::filesystem::path output;
  checkpoint::onnx::ExportOptions onnx;
  Existing existing = Existing::refuse;
};

/// Writes the file and says what it is.
void run_export(const ExportCommand& command);

}  // namespace cosmic::cli
