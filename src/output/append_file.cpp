#include "output/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/error.hpp"

namespace cosmic::output {
namespace {

constexpr mode_t kPermissions = 0666;  // less the user's umask

}  // namespace

AppendFile::AppendFile(std::filesystem::path path, Start start, FileOperations& files)
    : path_(std::move(path)), files_(files) {
  std::error_code ignored;  // a folder that cannot be made is a file that cannot be opened
  std::filesystem::create_directories(path_.parent_path(), ignored);
  // Through a link, lines would get into a file that nobody named.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  descriptor_ = open(path_.c_str(), start == Start::fresh ? flags | O_EXCL : flags, kPermissions);
  COSMIC_REQUIRE(DataError, descriptor_ >= 0,
                 path_.string() << ": cannot be written (" << std::strerror(errno)
                                << "); choose an output folder that you can write to");
}

AppendFile::~AppendFile() {
  files_.close(descriptor_);
}

void AppendFile::append(std::string_view record) {
  const off_t before = lseek(descriptor_, 0, SEEK_END);
  std::span<const std::byte> rest = std::as_bytes(std::span(record));
  while (!rest.empty()) {
    const ssize_t written = files_.write(descriptor_, rest);
    if (written > 0) {
      rest = rest.subspan(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      const int reason = written == 0 ? EIO : errno;  // no progress: do not try for ever
      // If this fails too, a reader meets a half record at the end; there is nothing left to do.
      [[maybe_unused]] const int cut = ftruncate(descriptor_, before);
      COSMIC_REQUIRE(DataError, false,
                     path_.string()
                         << ": " << record.size() << " bytes cannot be added ("
                         << std::strerror(reason) << "); free space there, or write elsewhere");
    }
  }
}

}  // namespace cosmic::output
