#include "checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

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

/// Files of PopDist's instances, newest first and then by instance. They are copies of each other,
/// so they serve where there is nothing else.
std::vector<Candidate> instance_files(const std::filesystem::path& folder) {
  std::vector<std::pair<InstanceName, std::filesystem::path>> named;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (const auto name = instance_in_name(entry.path().filename().string())) {
      named.emplace_back(*name, entry.path());
    }
  }
  std::sort(named.begin(), named.end(), [](const auto& a, const auto& b) {
    return std::pair(-a.first.step, a.first.instance) < std::pair(-b.first.step, b.first.instance);
  });
  std::vector<Candidate> files;
  for (const auto& [name, file] : named) {
    files.push_back({name.step, file});
  }
  return files;
}

void write_text(const std::filesystem::path& path, const std::string& text, FileOperations& files) {
  PendingFile file(path, Existing::replace, files);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

bool lists(const CheckpointIndex& index, const std::filesystem::path& file) {
  return std::any_of(index.entries.begin(), index.entries.end(),
                     [&](const IndexEntry& entry) { return entry.file == file.filename(); });
}

/// Files that the index does not know, newest first.
std::vector<Candidate> unlisted_files(const std::filesystem::path& folder,
                                      const CheckpointIndex& index) {
  std::vector<Candidate> files = named_files(folder);
  std::erase_if(files, [&](const Candidate& file) { return lists(index, file.file); });
  return newest_first(std::move(files));
}

std::int64_t latest_step_of(const CheckpointIndex& index) {
  const auto entry =
      std::find_if(index.entries.begin(), index.entries.end(),
                   [&](const IndexEntry& known) { return known.file == index.latest; });
  return entry != index.entries.end() ? entry->step : step_in_name(index.latest).value_or(-1);
}

/// Whether the process was killed after the file and before the index. Otherwise somebody has taken
/// the file out of the index, or names another as the latest, to go back.
bool awaits_its_line(const Candidate& file, const std::filesystem::path& folder,
                     const CheckpointIndex& index) {
  const bool as_written = !index.entries.empty() && index.entries.front().file == index.latest;
  std::error_code error;
  const auto of_file = std::filesystem::last_write_time(file.file, error);
  const auto of_index = std::filesystem::last_write_time(folder / kIndexName, error);
  return as_written && file.step > latest_step_of(index) && !error && of_file >= of_index;
}

/// The order to try. The index says which is the latest, and somebody may have changed it to go
/// back; but a newer file that it does not know was complete when the process was killed before
/// writing the index.
std::vector<std::filesystem::path> order_of(const std::filesystem::path& folder,
                                            const CheckpointIndex& index) {
  std::vector<Candidate> others = unlisted_files(folder, index);
  std::vector<std::filesystem::path> order;
  if (!index.latest.empty()) {
    for (const Candidate& file : others) {
      if (awaits_its_line(file, folder, index)) {
        order.push_back(file.file);
      }
    }
    order.push_back(folder / index.latest);
  }
  for (const IndexEntry& entry : index.entries) {
    others.push_back({entry.step, folder / entry.file});
  }
  for (const Candidate& file : newest_first(std::move(others))) {
    if (std::find(order.begin(), order.end(), file.file) == order.end()) {
      order.push_back(file.file);
    }
  }
  if (order.empty()) {
    for (const Candidate& file : instance_files(folder)) {
      order.push_back(file.file);
    }
  }
  return order;
}

/// The folder that a place speaks of; nothing for a single file.
std::optional<std::filesystem::path> folder_of(const std::filesystem::path& location) {
  std::error_code ignored;
  if (std::filesystem::is_directory(location, ignored)) {
    return location;
  }
  return location.filename() == kIndexName ? std::optional(location.parent_path()) : std::nullopt;
}

/// A file that was copied over another would otherwise pass for it.
void compare_steps(LoadedCheckpoint& loaded, const CheckpointIndex& index) {
  const std::int64_t step = loaded.checkpoint.step;
  std::string others;
  const auto compare = [&](const std::string& who, std::int64_t said) {
    if (said != step) {
      others += (others.empty() ? "" : " and ") + who + " says " + std::to_string(said);
    }
  };
  const std::string name = loaded.file.filename().string();
  const std::optional<InstanceName> of_instance = instance_in_name(name);
  compare("its name", of_instance ? of_instance->step : step_in_name(name).value_or(step));
  for (const IndexEntry& entry : index.entries) {
    if (entry.file == loaded.file.filename()) {
      compare("the index", entry.step);
    }
  }
  if (!others.empty()) {
    loaded.warnings.push_back(
        {loaded.file, "is the checkpoint of step " + std::to_string(step) + ", although " + others +
                          " (it was copied over another one, or renamed); step " +
                          std::to_string(step) + " counts"});
  }
}

std::int64_t latest_step_in(const std::filesystem::path& folder, const CheckpointIndex& index) {
  std::int64_t latest = 0;
  std::vector<Candidate> files = named_files(folder);
  if (files.empty() && index.entries.empty()) {
    files = instance_files(folder);
  }
  for (const Candidate& file : files) {
    latest = std::max(latest, file.step);
  }
  for (const IndexEntry& entry : index.entries) {
    latest = std::max(latest, entry.step);
  }
  return latest;
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

std::vector<IndexEntry> CheckpointFolder::drop_beyond(std::size_t keep, std::int64_t step,
                                                      CheckpointIndex& index) const {
  std::vector<IndexEntry> dropped;
  const auto before = [&](const IndexEntry& a, const IndexEntry& b) {
    // Later ones are of a past that the run has gone back from.
    return std::pair(a.step <= step, a.step) < std::pair(b.step <= step, b.step);
  };
  while (index.entries.size() > keep) {
    const auto first = std::min_element(index.entries.begin(), index.entries.end(), before);
    dropped.push_back(*first);
    index.entries.erase(first);
  }
  return dropped;
}

std::vector<Warning> CheckpointFolder::settle(std::int64_t step) {
  std::vector<Warning> ignored;  // whoever loaded from here has told
  CheckpointIndex index = read_index(folder_ / kIndexName, ignored);
  const std::vector<Candidate> left_out = unlisted_files(folder_, index);
  if (left_out.empty()) {
    return {};
  }
  for (const Candidate& file : left_out) {
    const auto place =
        std::find_if(index.entries.begin(), index.entries.end(),
                     [&](const IndexEntry& entry) { return entry.step < file.step; });
    index.entries.insert(place, {file.step, file.file.filename().string()});
  }
  const std::vector<IndexEntry> dropped = drop_beyond(static_cast<std::size_t>(keep_), step, index);
  // The checkpoint that the run goes on from stays the latest, whichever others there are.
  const auto current = std::find_if(index.entries.begin(), index.entries.end(),
                                    [&](const IndexEntry& entry) { return entry.step == step; });
  if (current != index.entries.end()) {
    index.latest = current->file;
    std::rotate(index.entries.begin(), current, current + 1);
  }
  write_text(folder_ / kIndexName, to_text(index), files_);

  std::vector<Warning> done;
  for (const Candidate& file : left_out) {
    if (lists(index, file.file)) {
      done.push_back({file.file,
                      "was not in the index (a process that is killed between the two leaves such "
                      "a file); it is listed now"});
    }
  }
  for (const IndexEntry& entry : dropped) {
    const bool gone = files_.remove(folder_ / entry.file) == 0 || errno == ENOENT;
    done.push_back({folder_ / entry.file,
                    "is beyond the " + std::to_string(keep_) + " checkpoints to keep, " +
                        (gone ? "and is removed"
                              : std::string("but cannot be removed: ") + std::strerror(errno))});
  }
  return done;
}

std::vector<Warning> CheckpointFolder::save(const Writing& checkpoint) {
  const std::filesystem::path file = file_of(checkpoint.step);
  save_checkpoint(file, checkpoint, files_);

  std::vector<Warning> warnings;
  CheckpointIndex index = read_index(folder_ / kIndexName, warnings);
  // Before the new one, the previous in their order, less those that are gone.
  std::erase_if(index.entries, [&](const IndexEntry& entry) {
    return entry.file == file.filename() || !std::filesystem::exists(folder_ / entry.file);
  });
  const std::vector<IndexEntry> dropped =
      drop_beyond(static_cast<std::size_t>(keep_ - 1), checkpoint.step, index);
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

LoadedCheckpoint load_newest(const std::filesystem::path& location, Numbers numbers) {
  std::vector<Warning> warnings;
  const std::vector<std::filesystem::path> order = find_checkpoints(location, warnings);
  COSMIC_REQUIRE(DataError, !order.empty(),
                 location.string()
                     << ": no checkpoint found (looked for a file, an index '" << kIndexName
                     << "' and model-<step>.safetensors or .ckpt); is the path right?");
  std::size_t passed_over = 0;
  for (const std::filesystem::path& file : order) {
    try {
      LoadedCheckpoint loaded;
      loaded.checkpoint = load_checkpoint(file, numbers);
      loaded.file = file;
      loaded.warnings = std::move(warnings);
      loaded.passed_over = passed_over;
      loaded.latest_step = loaded.checkpoint.step;
      if (loaded.checkpoint.origin != Origin::weights) {
        std::vector<Warning> told;
        const auto folder = folder_of(location);
        const CheckpointIndex index =
            folder ? read_index(*folder / kIndexName, told) : CheckpointIndex{};
        compare_steps(loaded, index);
        if (folder) {
          loaded.latest_step = std::max(loaded.latest_step, latest_step_in(*folder, index));
        }
      }
      return loaded;
    } catch (const DataError& error) {
      // A single file that is named is the one that is meant, and its error says more.
      if (order.size() == 1 && file == location) {
        throw;
      }
      warnings.push_back({file, without_name(error.what(), file)});
      ++passed_over;
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

std::filesystem::path rewind(const std::filesystem::path& folder, std::int64_t step,
                             FileOperations& files) {
  std::vector<Warning> ignored;  // lines that make no sense are not written again
  CheckpointIndex index = read_index(folder / kIndexName, ignored);
  std::vector<Candidate> all = named_files(folder);
  const auto wanted = std::find_if(all.begin(), all.end(),
                                   [&](const Candidate& file) { return file.step == step; });
  std::string steps;
  for (const Candidate& file : newest_first(all)) {
    steps += (steps.empty() ? "" : ", ") + std::to_string(file.step);
  }
  COSMIC_REQUIRE(
      UserError, wanted != all.end(),
      folder.string() << ": has no checkpoint of step " << step << " (it has "
                      << (steps.empty() ? "none" : steps)
                      << "); name the folder `checkpoints` of a run and one of its steps");
  const std::filesystem::path file = wanted->file;
  const std::int64_t found = load_checkpoint(file).step;
  COSMIC_REQUIRE(DataError, found == step,
                 file.string() << ": is the checkpoint of step " << found
                               << ", although its name says " << step
                               << " (it was copied over another one, or renamed); name it after "
                                  "its step, or choose another");
  index.entries.clear();
  for (const Candidate& one : newest_first(std::move(all))) {
    index.entries.push_back({one.step, one.file.filename().string()});
  }
  index.latest = file.filename();
  write_text(folder / kIndexName, to_text(index), files);
  return file;
}

}  // namespace cosmic::checkpoint
