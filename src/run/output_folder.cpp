#include "run/output_folder.hpp"

#include "config/dump.hpp"
#include "core/error.hpp"

namespace cosmic::run {

std::filesystem::path output_folder(const config::Configuration& configuration) {
  return configuration.output_dir.empty() ? config::default_output_dir(configuration)
                                          : configuration.output_dir;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code unknown;
  COSMIC_REQUIRE(UserError, !error && std::filesystem::is_directory(folder, unknown),
                 folder.string() << ": cannot make this folder ("
                                 << (error ? error.message() : "there is a file of that name")
                                 << "); choose an output_dir that you can write to");
}

}  // namespace cosmic::run
