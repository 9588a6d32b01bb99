#include "config/configuration.hpp"

#include "config/schema.hpp"

namespace cosmic::config {

std::filesystem::path DataConfig::file_path() const {
  return std::filesystem::path(data_directory) / file;
}

std::filesystem::path DataConfig::aux_file_path() const {
  return std::filesystem::path(data_directory) / aux_file;
}

Value Configuration::value(std::string_view key) const {
  return require_key(key).read(*this);
}

}  // namespace cosmic::config
