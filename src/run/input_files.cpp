#include "run/input_files.hpp"

#include <span>

#include "checkpoint/checkpoint_folder.hpp"
#include "data/larcv/event_files.hpp"
#include "run/output_folder.hpp"

namespace cosmic::run {
namespace {

void add(std::vector<std::filesystem::path>& files,
         const std::vector<std::filesystem::path>& more) {
  files.insert(files.end(), more.begin(), more.end());
}

/// Like event_files, but without a complaint about what is missing: that is for who reads them.
std::vector<std::filesystem::path> files_named(const std::vector<std::filesystem::path>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& name : names) {
    if (data::larcv::is_pattern(name) && data::larcv::matches_file(name)) {
      add(files, data::larcv::find_event_files(std::span(&name, 1), "data.file"));
    } else {
      files.push_back(name);
    }
  }
  return files;
}

}  // namespace

std::vector<std::filesystem::path> weights_files(const std::filesystem::path& location) {
  std::vector<checkpoint::Warning> warnings;  // for who loads them
  std::vector<std::filesystem::path> files{location, location / checkpoint::kIndexName};
  add(files, checkpoint::find_checkpoints(location, warnings));
  return files;
}

std::vector<std::filesystem::path> input_files(const config::Configuration& configuration) {
  std::vector<std::filesystem::path> files;
  if (configuration.data.kind() == config::DataKind::real) {
    add(files, files_named(configuration.data.file_paths()));
    add(files, files_named(configuration.data.aux_file_paths()));
  }
  add(files, weights_files(output_folder(configuration) / "checkpoints"));
  if (!configuration.mode.weights_location.empty()) {
    add(files, weights_files(configuration.mode.weights_location));
  }
  for (const std::string& name :
       {configuration.run.executable, configuration.run.machine, configuration.run.section_plan}) {
    if (!name.empty()) {
      files.emplace_back(name);
    }
  }
  return files;
}

}  // namespace cosmic::run
