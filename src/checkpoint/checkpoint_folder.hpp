// A folder of checkpoints, as the reference keeps it: model-<step> files and an index. Its content
// survives a kill, a full disk and a power cut at any moment; a damaged file, or one with numbers
// that are not finite, is reported, and the one before it is used.
//
//   CheckpointFolder folder(output / "checkpoints");
//   folder.save(writing_of(*training.state(), step, run));
//   ...
//   LoadedCheckpoint loaded = load_newest(output / "checkpoints");   // report loaded.warnings!
#pragma once

#include <filesystem>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/checkpoint_index.hpp"
#include "checkpoint/finite.hpp"
#include "core/file_operations.hpp"

namespace cosmic::checkpoint {

/// Writes into a folder. One process at a time.
class CheckpointFolder {
 public:
  static constexpr int kKeep = 5;  ///< as many as the reference

  /// Makes the folder, and removes unfinished files that a killed process left. Throws UserError if
  /// `keep` is not positive, DataError if the folder cannot be made.
  explicit CheckpointFolder(std::filesystem::path folder, int keep = kKeep,
                            FileOperations& files = system_files());

  /// Before a run goes on at `step`: lists files that a killed process left out of the index, and
  /// removes those beyond the number to keep. Returns what was done.
  std::vector<Warning> settle(std::int64_t step);

  /// Writes the checkpoint, then the index, then removes the oldest ones beyond the number to keep;
  /// of those that a run has gone back from, first. Throws DataError if the checkpoint or the index
  /// cannot be written, NonFiniteCheckpoint if a number in it is not finite; those before are still
  /// there. Returns warnings, such as an old file that cannot be removed.
  std::vector<Warning> save(const Writing& checkpoint);

  const std::filesystem::path& path() const { return folder_; }
  /// Where the checkpoint of a step is or would be.
  std::filesystem::path file_of(std::int64_t step) const;

 private:
  void remove_unfinished() const;
  /// Takes out of the index what is beyond the number to keep for a run at `step`.
  std::vector<IndexEntry> drop_beyond(std::size_t keep, std::int64_t step,
                                      CheckpointIndex& index) const;

  std::filesystem::path folder_;
  int keep_;
  FileOperations& files_;
};

struct LoadedCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path file;
  std::vector<Warning>
      warnings;                 ///< newer files that could not be used, and why; steps that differ
  std::size_t passed_over = 0;  ///< newer files that could not be used
  /// The latest that the names of files or the index speak of: later than the checkpoint's own if
  /// somebody went back, or newer files could not be used.
  std::int64_t latest_step = 0;
};

/// What could be loaded from a place, in the order to try: a file; an index; or a folder with or
/// without one. Empty if there is nothing there.
std::vector<std::filesystem::path> find_checkpoints(const std::filesystem::path& location,
                                                    std::vector<Warning>& warnings);

/// The newest usable one. Throws DataError if there is none, with the reason for each file.
LoadedCheckpoint load_newest(const std::filesystem::path& location,
                             Numbers numbers = Numbers::finite);

/// Makes the checkpoint of a step the one that a run goes on from, though there are later ones.
/// Returns its file. Throws UserError if the folder has none of that step, DataError if it cannot
/// be used.
std::filesystem::path rewind(const std::filesystem::path& folder, std::int64_t step,
                             FileOperations& files = system_files());

}  // namespace cosmic::checkpoint
