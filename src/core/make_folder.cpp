#include "core/make_folder.hpp"

#include <system_error>

#include "core/error.hpp"

namespace cosmic {

void make_folder(const std::filesystem::path& folder, std::string_view setting) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  COSMIC_REQUIRE(UserError, !error,
                 setting << " = " << folder.string() << " cannot be used as a folder ("
                         << error.message() << "); choose another " << setting
                         << ", or remove what is in the way");
  const bool exists = std::filesystem::is_directory(folder, error);
  COSMIC_REQUIRE(UserError, exists,
                 setting << " = " << folder.string() << " cannot be used as a folder ("
                         << (error ? error.message() : "it is something else")
                         << "); choose another " << setting << ", or remove what is in the way");
}

}  // namespace cosmic
