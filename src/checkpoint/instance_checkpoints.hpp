// Checkpoints under the names that PopDist's instances use: each process of a run writes a file of
// its own, model-<step>-<instance>, beside the run's model-<step>. It holds the same, so whoever
// has scripts for those names, or looks for a checkpoint on the disk of a certain host, finds one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/checkpoint_index.hpp"
#include "core/file_operations.hpp"

namespace cosmic::checkpoint {

/// Those of one instance. The index does not list them.
class InstanceCheckpoints {
 public:
  /// Makes the folder, and removes unfinished files that the instance left when it was killed.
  /// Throws UserError if there can be no such folder.
  InstanceCheckpoints(std::filesystem::path folder, int instance, int keep,
                      FileOperations& files = system_files());

  /// Writes the file, then removes the oldest ones of this instance beyond the number to keep; of
  /// those that the run has gone back from, first. Throws as CheckpointFolder::save does.
  std::vector<Warning> save(const Writing& checkpoint);

  std::filesystem::path file_of(std::int64_t step) const;

 private:
  std::filesystem::path folder_;
  int instance_;
  int keep_;
  FileOperations& files_;
};

}  // namespace cosmic::checkpoint
