// Tensors in files, in the safetensors format: an eight-byte header length, a JSON header, raw
// data. Python reads it too, and unlike a pickle it cannot run code. A file is trusted with
// nothing: whatever its bytes say, loading either gives the tensors or throws a DataError that
// names the file and the tensor.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/pending_file.hpp"
#include "session/model_state.hpp"
#include "session/tensor.hpp"
#include "session/tensor_source.hpp"

namespace cosmic::session {

/// Free text that travels with the tensors, such as the version that wrote them.
using Metadata = std::map<std::string, std::string>;

struct TensorFile {
  NamedTensors tensors;
  Metadata metadata;
};

struct SaveOptions {
  Existing existing = Existing::replace;
  /// Tensors of float32 numbers that bfloat16 has too are written as these, in half the bytes.
  /// Nothing is rounded; load_tensors gives float32 again.
  bool halve_exact = false;
  FileOperations& files = system_files();
};

/// A number rounded to the nearest that bfloat16 has, ties to even; what is not finite stays so.
float rounded_to_bfloat16(float value);

/// A reader of `path` sees the old file or the new one, never half of one, even after a power cut.
void save_tensors(const std::filesystem::path& path, const NamedTensors& tensors,
                  const Metadata& metadata = {}, const SaveOptions& options = {});
/// The same, of which one tensor is in memory at a time.
void save_tensors(const std::filesystem::path& path, const TensorSource& tensors,
                  const Metadata& metadata, const SaveOptions& options);
TensorFile load_tensors(const std::filesystem::path& path);
/// What travels with the tensors, without reading them.
Metadata load_metadata(const std::filesystem::path& path);

/// Parameters and buffers of a model; not the state of its optimizer.
void save_weights(const std::filesystem::path& path, const ModelState& state,
                  const Metadata& metadata = {});
/// Throws DataError naming every tensor that is missing, unknown or of another shape; then the
/// state is as it was.
void load_weights(const std::filesystem::path& path, ModelState& state);

}  // namespace cosmic::session
