#include "core/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.hpp"

namespace cosmic {
namespace {

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a named pipe";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "not a file";
  }
}

}  // namespace

const std::filesystem::path& regular_file(const std::filesystem::path& path) {
  // The open file is asked and not its name, which may mean something else a moment later.
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) {
    return path;
  }
  struct stat found {};
  const bool known = ::fstat(descriptor, &found) == 0;
  ::close(descriptor);
  COSMIC_REQUIRE(DataError, !known || S_ISREG(found.st_mode),
                 path.string() << ": is " << kind_of(found.st_mode)
                               << " (a file is needed: it is read more than once, and it has an "
                                  "end); give the path of a file");
  return path;
}

}  // namespace cosmic
