#include "checkpoint/instance_checkpoints.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "core/make_folder.hpp"
#include "core/pending_file.hpp"

namespace cosmic::checkpoint {

InstanceCheckpoints::InstanceCheckpoints(std::filesystem::path folder, int instance, int keep,
                                         FileOperations& files)
    : folder_(std::move(folder)), instance_(instance), keep_(keep), files_(files) {
  COSMIC_ASSERT(keep_ > 0);
  make_folder(folder_, "output_dir");
  std::vector<std::filesystem::path> unfinished;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const auto name = PendingFile::final_name(entry.path().filename().string());
    const auto parts = name ? instance_in_name(*name) : std::nullopt;
    if (parts && parts->instance == instance_) {
      unfinished.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& file : unfinished) {
    files_.remove(file);  // if it stays it only takes space
  }
}

std::filesystem::path InstanceCheckpoints::file_of(std::int64_t step) const {
  return folder_ /
         ("model-" + std::to_string(step) + "-" + std::to_string(instance_) + ".safetensors");
}

std::vector<Warning> InstanceCheckpoints::save(const Writing& checkpoint) {
  save_checkpoint(file_of(checkpoint.step), checkpoint, files_);
  std::vector<std::pair<bool, std::int64_t>> steps;  // past or abandoned, and which
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    const auto parts = instance_in_name(name);
    if (parts && parts->instance == instance_ && name == file_of(parts->step).filename()) {
      steps.emplace_back(parts->step <= checkpoint.step, parts->step);
    }
  }
  std::sort(steps.begin(), steps.end());
  std::vector<Warning> warnings;
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) < steps.size(); ++i) {
    const std::filesystem::path file = file_of(steps[i].second);
    if (files_.remove(file) != 0 && errno != ENOENT) {
      warnings.push_back({file, std::string("cannot be removed: ") + std::strerror(errno)});
    }
  }
  return warnings;
}

}  // namespace cosmic::checkpoint
