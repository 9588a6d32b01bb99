// A small Python project that trains and tags with one configuration on somebody else's software:
// the network in plain PyTorch with the reference's weight names, the loss inside a module,
// weights, events through h5py, and a thin wrapper for the machine. docs/port-kit.md says what is
// in it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/pending_file.hpp"
#include "model/enum_text.hpp"
#include "run/export_weights.hpp"

namespace cosmic::port {

/// Whose software the project is for.
enum class Platform { torch, ipu, hpu, rdu };

struct KitRequest {
  run::ExportSource source = {};
  Platform platform = Platform::torch;
  std::filesystem::path output = {};  ///< a folder, made if there is none
  std::int64_t rows = 0;  ///< of an image; 0 for the detector's, as data.downsample halves it
  std::int64_t columns = 0;
  Existing existing = Existing::refuse;
  std::vector<std::filesystem::path> inputs = {};  ///< files that must not be written
};

struct WrittenKit {
  std::string network;
  std::vector<std::string> files;  ///< by name, in the folder
  std::string verdict = {};        ///< of the machine's model, a sentence; empty for plain PyTorch
  std::string changed = {};        ///< settings that it changed, to make it fit
};

/// Throws UserError for a configuration that a kit cannot follow, DataError if the weights do not
/// belong to the network. Nothing is written then.
WrittenKit write_port_kit(const KitRequest& request, const run::ExportHooks& hooks);

}  // namespace cosmic::port

namespace cosmic::model {

template <>
struct EnumText<port::Platform> {
  static constexpr std::string_view key = "--for";
  static constexpr std::array<std::string_view, 4> names{"torch", "ipu", "hpu", "rdu"};
};

}  // namespace cosmic::model
