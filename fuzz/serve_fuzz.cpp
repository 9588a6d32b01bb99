// Gives any bytes to the reader of inference requests: as JSON alone, and as JSON of a length that
// the first two bytes say, with tensors behind it. The only thing that may happen is a Refusal, or
// a request whose tensors lie inside the body.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "serve/json_body.hpp"
#include "serve/refusal.hpp"

namespace {

void read(std::string_view body, std::optional<std::size_t> json_bytes) {
  cosmic::serve::Limits limits;
  limits.json_numbers = 4096;
  try {
    const cosmic::serve::InferRequest request =
        cosmic::serve::infer_request_from(body, json_bytes, limits);
    for (const cosmic::serve::InputTensor& input : request.inputs) {
      const bool inside = !input.bytes || input.bytes->empty() ||
                          (input.bytes->data() >= body.data() &&
                           input.bytes->data() + input.bytes->size() <= body.data() + body.size());
      if (!inside) {
        std::abort();
      }
    }
  } catch (const cosmic::serve::Refusal&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes, std::nullopt);
  if (size >= 2) {
    const std::size_t json_bytes = data[0] | static_cast<std::size_t>(data[1]) << 8;
    read(bytes.substr(2), json_bytes);
  }
  return 0;
}
