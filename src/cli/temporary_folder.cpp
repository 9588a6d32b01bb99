#include "cli/temporary_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#include "core/error.hpp"

namespace cosmic::cli {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "cosmictagger-view-XXXXXX").string();
  COSMIC_REQUIRE(DataError, mkdtemp(name.data()) != nullptr,
                 name << ": cannot be made (files that are viewed would be kept there); set TMPDIR "
                         "to a folder that can be written");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

}  // namespace cosmic::cli
