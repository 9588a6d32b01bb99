// Checkpoints in files: safetensors, with everything that is not a tensor in its metadata and a
// checksum over all of it. Also reads the reference's archives and plain weights.
#pragma once

#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/finite.hpp"
#include "core/pending_file.hpp"

namespace cosmic::checkpoint {

/// A reader of `path` sees the old file or the new one, never half of one, even after a power cut.
/// Throws DataError if it cannot be written, NonFiniteCheckpoint before anything is written.
void save_checkpoint(const std::filesystem::path& path, const Writing& checkpoint,
                     FileOperations& files = system_files(), Numbers numbers = Numbers::finite);

/// Any of the three kinds of file, recognised by its content. Throws DataError naming the file if
/// it is none of them, damaged, or written by a version this one does not know; NonFiniteCheckpoint
/// if it is whole but for its numbers.
Checkpoint load_checkpoint(const std::filesystem::path& path, Numbers numbers = Numbers::finite);

/// The configuration of the run that wrote a checkpoint, from the head of the file alone: nobody
/// has looked at its checksum. Empty for checkpoints of the reference and plain weights. Throws
/// DataError if the head cannot be read.
std::string configuration_in(const std::filesystem::path& path);

// What may be noted with weights beside their settings (RunRecord::notes).
inline constexpr const char* kTemperatureNote = "temperature";  ///< infer/temperature.hpp
inline constexpr const char* kInputsNote = "inputs";            ///< infer/input_profile.hpp
inline constexpr const char* kTrainedByNote = "trained by";     ///< the program that did

struct WeightsFileOptions {
  Existing existing = Existing::refuse;
  bool halve_exact = false;  ///< session::SaveOptions
};

/// Only weights, under the reference's names, as Python's safetensors reads and writes them. What
/// whoever uses them has to know goes with them: settings, the fingerprint of the events behind
/// them, and the notes above. Loaded again they are Origin::weights.
void save_weights(const std::filesystem::path& path, const Checkpoint& checkpoint,
                  const WeightsFileOptions& options = {});

}  // namespace cosmic::checkpoint
