// A trained network as an ONNX file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/onnx/onnx_export.hpp"
#include "core/pending_file.hpp"

namespace cosmic::run {

struct ExportRequest {
  /// `network=a21 network.depth=3`: which network. May be left out for a checkpoint that remembers
  /// its configuration.
  std::vector<std::string> settings;
  std::filesystem::path weights;  ///< a checkpoint, a folder of them, or plain weights
  std::filesystem::path output;
  checkpoint::onnx::ExportOptions onnx;
  Existing existing = Existing::refuse;
};

/// Who hears of what is no error: before an error, too.
struct ExportHooks {
  std::function<void(const checkpoint::Warning&)> warning;  ///< about the weights
  std::function<void(const std::string&)> note;             ///< about the settings
};

/// Writes the file and returns the network's name. Throws UserError if nothing says which network
/// it is, DataError if the weights do not belong to it.
std::string export_network(const ExportRequest& request, const ExportHooks& hooks);

}  // namespace cosmic::run
