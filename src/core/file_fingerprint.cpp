#include "core/file_fingerprint.hpp"

#include <fstream>
#include <sstream>
#include <vector>

#include "core/content_hash.hpp"
#include "core/regular_file.hpp"

namespace cosmic {

std::string file_fingerprint(const std::filesystem::path& path) {
  std::ifstream file(regular_file(path), std::ios::binary);
  ContentHash hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    hash.add(std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount())));
  }
  std::ostringstream text;
  text << std::hex << hash.value();
  return text.str();
}

}  // namespace cosmic
