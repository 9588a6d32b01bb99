// A trained network as an ONNX file.
#pragma once

#include <cstdint>
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
  /// its configuration, and may not contradict it.
  std::vector<std::string> settings;
  std::filesystem::path weights;  ///< a checkpoint, a folder of them, or plain weights
  std::filesystem::path output;
  checkpoint::onnx::ExportOptions onnx;  ///< 0 rows or columns: those that the weights know
  Existing existing = Existing::refuse;
};

/// Who hears of what is no error: before an error, too.
struct ExportHooks {
  std::function<void(const checkpoint::Warning&)> warning;  ///< about the weights
  std::function<void(const std::string&)> note;             ///< about the settings
};

/// What was written.
struct ExportedNetwork {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Throws UserError if nothing says which network it is or settings contradict the weights,
/// DataError if the weights do not belong to it.
ExportedNetwork export_network(const ExportRequest& request, const ExportHooks& hooks);

}  // namespace cosmic::run
