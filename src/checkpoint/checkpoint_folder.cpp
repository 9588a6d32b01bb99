#include "checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "core/pending_file.hpp"

namespace cosmic::checkpoint {
namespace {

struct Candidate {
  std::int64_t step;
  std::filesystem::path file;
};

std::vector<Candidate> newest_first(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.step > b.step; });
  return candidates;
}

/// Files of a folder that are named as checkpoints, the index or not.
std::vector<Candidate> named_files(const std::filesystem::path& folder) {
  std::vector<Candidate> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (const auto step = step_in_name(entry.path().filename().string())) {
      files.push_back({*step, entry.path()});
    }
  }
  return files;
}

void write_text(const std::filesystem::path& path, const std::string& text, FileOperations& files) {
  PendingFile file(path, Existing::replace, files);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

/// The order to try. The index says which is the latest, and somebody may have changed it to go
/// back; but a newer file that it does not know was complete when the process was killed before
/// writing the index.
std::vector<std::filesystem::path> order_of(const std::filesystem::path& folder,
                                            const CheckpointIndex& index) {
  std::vector<Candidate> listed;
  for (const IndexEntry& entry : index.entries) {
    listed.push_back({entry.step, folder / entry.file});
  }
  std::vector<Candidate> unlisted = named_files(folder);
  std::erase_if(unlisted, [&](const Candidate& file) {
    return file.file.filename() == index.latest ||
           std::any_of(listed.begin(), listed.end(),
                       [&](const Candidate& known) { return known.file == file.file; });
  });

  std::int64_t latest_step = -1;
  std::vector<std::filesystem::path> order;
  if (!index.latest.empty()) {
    const auto entry = std::find_if(listed.begin(), listed.end(), [&](const Candidate& known) {
      return known.file.filename() == index.latest;
    });
    latest_step = entry != listed.end() ? entry->step : step_in_name(index.latest).value_or(-1);
    for (const Candidate& file : newest_first(unlisted)) {
      if (file.step > latest_step) {
        order.push_back(file.file);
      }
    }
    order.push_back(folder / index.latest);
  }
  std::vector<Candidate> others = std::move(listed);
  others.insert(others.end(), unlisted.begin(), unlisted.end());
  for (const Candidate& file : newest_first(std::move(others))) {
    if (std::find(order.begin(), order.end(), file.file) == order.end()) {
      order.push_back(file.file);
    }
  }
  return order;
}

/// Messages start with the file's name; a warning has it already.
std::string without_name(const std::string& message, const std::filesystem::path& file) {
  const std::string start = file.string() + ": ";
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::filesystem::path folder, int keep, FileOperations& files)
    : folder_(std::move(folder)), keep_(keep), files_(files) {
  COSMIC_REQUIRE(UserError, keep_ > 0,
                 "the number of checkpoints to keep is " << keep_
                                                         << " (the newest must be among "
                                                            "them); keep 1 or more");
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  COSMIC_REQUIRE(DataError, !error && std::filesystem::is_directory(folder_),
                 folder_.string() << ": cannot create the checkpoint folder ("
                                  << (error ? error.message() : "a file of that name exists")
                                  << "); do you have permission to write there?");
  remove_unfinished();
}

/// With checkpoints of hundreds of megabytes, a handful of kills would fill the disk.
void CheckpointFolder::remove_unfinished() const {
  std::vector<std::filesystem::path> unfinished;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (const auto final_name = PendingFile::final_name(name);
        final_name && (*final_name == kIndexName || step_in_name(*final_name))) {
      unfinished.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& file : unfinished) {
    files_.remove(file);  // if it stays it only takes space
  }
}

std::filesystem::path CheckpointFolder::file_of(std::int64_t step) const {
  return folder_ / ("model-" + std::to_string(step) + ".safetensors");
}

std::vector<Warning> CheckpointFolder::save(const Checkpoint& checkpoint) {
  const std::filesystem::path file = file_of(checkpoint.step);
  save_checkpoint(file, checkpoint, files_);

  std::vector<Warning> warnings;
  CheckpointIndex index = read_index(folder_ / kIndexName, warnings);
  // Before the new one, the previous in their order, less those that are gone.
  std::erase_if(index.entries, [&](const IndexEntry& entry) {
    return entry.file == file.filename() || !std::filesystem::exists(folder_ / entry.file);
  });
  std::vector<IndexEntry> dropped;
  while (index.entries.size() + 1 > static_cast<std::size_t>(keep_)) {
    const auto oldest =
        std::min_element(index.entries.begin(), index.entries.end(),
                         [](const IndexEntry& a, const IndexEntry& b) { return a.step < b.step; });
    dropped.push_back(*oldest);
    index.entries.erase(oldest);
  }
  index.latest = file.filename();
  index.entries.insert(index.entries.begin(), {checkpoint.step, index.latest});
  write_text(folder_ / kIndexName, to_text(index), files_);

  // Last, so that a kill before leaves a file too many rather than one too few.
  for (const IndexEntry& entry : dropped) {
    if (files_.remove(folder_ / entry.file) != 0 && errno != ENOENT) {
      const int reason = errno;
      warnings.push_back(
          {folder_ / entry.file, std::string("cannot be removed: ") + std::strerror(reason)});
    }
  }
  return warnings;
}

std::vector<std::filesystem::path> find_checkpoints(const std::filesystem::path& location,
                                                    std::vector<Warning>& warnings) {
  std::error_code ignored;  // what cannot be looked at is not there
  if (std::filesystem::is_directory(location, ignored)) {
    return order_of(location, read_index(location / kIndexName, warnings));
  }
  if (!std::filesystem::exists(location, ignored)) {
    return {};
  }
  if (location.filename() == kIndexName) {
    return order_of(location.parent_path(), read_index(location, warnings));
  }
  return {location};
}

LoadedCheckpoint load_newest(const std::filesystem::path& location) {
  std::vector<Warning> warnings;
  const std::vector<std::filesystem::path> order = find_checkpoints(location, warnings);
  COSMIC_REQUIRE(DataError, !order.empty(),
                 location.string()
                     << ": no checkpoint found (looked for a file, an index '" << kIndexName
                     << "' and model-<step>.safetensors or .ckpt); is the path right?");
  for (const std::filesystem::path& file : order) {
    try {
      return {load_checkpoint(file), file, std::move(warnings)};
    } catch (const DataError& error) {
      warnings.push_back({file, without_name(error.what(), file)});
    }
  }
  std::string reasons;
  for (const Warning& warning : warnings) {
    reasons += "\n  " + warning.file.filename().string() + ": " + warning.reason;
  }
  throw DataError(location.string() + ": none of the " + std::to_string(order.size()) +
                  " checkpoints there can be used (starting from scratch would lose the work so "
                  "far); restore one from a copy, or name another folder:" +
                  reasons);
}

}  // namespace cosmic::checkpoint
