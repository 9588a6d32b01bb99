// Checkpoints in files: safetensors, with everything that is not a tensor in its metadata and a
// checksum over all of it. Also reads the reference's archives and plain weights.
#pragma once

#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "core/pending_file.hpp"

namespace cosmic::checkpoint {

/// A reader of `path` sees the old file or the new one, never half of one, even after a power cut.
/// Throws DataError if it cannot be written.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     FileOperations& files = system_files());

/// Any of the three kinds of file, recognised by its content. Throws DataError naming the file if
/// it is none of them, damaged, or written by a version this one does not know.
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// Only weights, under the reference's names, as Python's safetensors reads and writes them.
void save_plain_weights(const std::filesystem::path& path, const Checkpoint& checkpoint,
                        Existing existing);

}  // namespace cosmic::checkpoint
