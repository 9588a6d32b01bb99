#include "config/configuration.hpp"

#include "config/schema.hpp"

namespace cosmic::config {
namespace {

std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder,
                                            const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : names) {
    paths.push_back(folder / name);
  }
  return paths;
}

}  // namespace

std::vector<std::filesystem::path> DataConfig::file_paths() const {
  return paths_in(data_directory, file);
}

std::vector<std::filesystem::path> DataConfig::aux_file_paths() const {
  return paths_in(data_directory, aux_file);
}

Value Configuration::value(std::string_view key) const {
  return require_key(key).read(*this);
}

}  // namespace cosmic::config
