#include "comm/alone.hpp"

#include <cstdlib>

namespace cosmic::comm {

void Alone::abort(int status) {
  std::_Exit(status);
}

}  // namespace cosmic::comm
