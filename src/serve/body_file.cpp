#include "serve/body_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "serve/refusal.hpp"

namespace cosmic::serve {

BodyFile::BodyFile(std::string_view bytes) : descriptor_(memfd_create("body", MFD_CLOEXEC)) {
  bool whole = descriptor_ >= 0;
  while (whole && !bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    whole = written > 0;
    bytes.remove_prefix(whole ? static_cast<std::size_t>(written) : 0);
  }
  if (!whole) {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
    throw Refusal(Reason::overloaded, "there is no memory for the file; try again later");
  }
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

BodyFile::~BodyFile() {
  close(descriptor_);
}

}  // namespace cosmic::serve
