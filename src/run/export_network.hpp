// A trained network as an ONNX file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "checkpoint/onnx/onnx_export.hpp"
#include "core/pending_file.hpp"
#include "run/export_weights.hpp"

namespace cosmic::run {

struct ExportRequest {
  ExportSource source;  ///< with weights
  std::filesystem::path output;
  checkpoint::onnx::ExportOptions onnx;  ///< 0 rows or columns: those that the weights know
  Existing existing = Existing::refuse;
  bool softmax = false;  ///< probabilities instead of logits, calibrated if the weights are
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
