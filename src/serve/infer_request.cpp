#include "serve/infer_request.hpp"

#include <cstring>

#include "serve/refusal.hpp"

namespace cosmic::serve {

std::string_view only_element(std::string_view bytes) {
  std::uint32_t length = 0;
  if (bytes.size() >= sizeof(length)) {
    std::memcpy(&length, bytes.data(), sizeof(length));
  }
  require(bytes.size() >= sizeof(length) && bytes.size() - sizeof(length) == length,
          Reason::invalid,
          "a BYTES tensor that is not one element: four bytes with its length, and as many bytes");
  return bytes.substr(sizeof(length));
}

}  // namespace cosmic::serve
