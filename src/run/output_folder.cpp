#include "run/output_folder.hpp"

#include "config/dump.hpp"

namespace cosmic::run {

std::filesystem::path output_folder(const config::Configuration& configuration) {
  return configuration.output_dir.empty() ? config::default_output_dir(configuration)
                                          : configuration.output_dir;
}

}  // namespace cosmic::run
