#include "machine/text_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.hpp"

namespace cosmic::machine {
namespace {

constexpr std::uintmax_t kLongest = 1 << 20;  // a description has some 5 kB

}  // namespace

std::string read_text_file(const std::string& path, const std::string& what) {
  std::error_code error;  // a pipe or a device would wait or never end
  COSMIC_REQUIRE(UserError, std::filesystem::is_regular_file(path, error),
                 "there is no " << what << " " << path << " ("
                                << (std::filesystem::exists(path, error) ? "that is no plain file"
                                                                         : "no such file")
                                << "); check its path");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  COSMIC_REQUIRE(UserError, !error && size <= kLongest,
                 "the " << what << " " << path << " has " << size << " bytes (no person writes "
                        << "that much); is it the right file?");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  COSMIC_REQUIRE(UserError, file.good(),
                 "the " << what << " " << path
                        << " cannot be read; check that you have permission to read it");
  return text.str();
}

}  // namespace cosmic::machine
