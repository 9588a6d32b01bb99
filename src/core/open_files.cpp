#include "core/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace cosmic {

std::size_t allow_open_files(std::size_t wanted) {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::numeric_limits<std::size_t>::max();  // not known; what cannot be opened says why
  }
  if (limit.rlim_cur < wanted) {
    struct rlimit more = limit;
    more.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &more) == 0) {
      limit = more;
    }
  }
  return limit.rlim_cur;
}

}  // namespace cosmic
