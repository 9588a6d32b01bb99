#include "core/whole_file.hpp"

namespace cosmic {

void write_whole_file(const std::filesystem::path& path, std::string_view content,
                      Existing existing) {
  std::error_code ignored;  // a folder that cannot be made is a file that cannot be written
  std::filesystem::create_directories(path.parent_path(), ignored);
  PendingFile file(path, existing);
  file.append(std::as_bytes(std::span(content)));
  file.commit();
}

}  // namespace cosmic
