// An inference request of the open inference protocol, as both front ends hand it on: tensors by
// name, and what is to come back. Sizes are those that the request claims until somebody compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::serve {

/// What a server takes, whoever asks. Checked before memory is taken.
struct Limits {
  std::size_t body_bytes = std::size_t{64} << 20;   ///< of a request
  std::size_t bodies_bytes = std::size_t{1} << 30;  ///< of all requests that are being read
  std::size_t answer_bytes = std::size_t{256} << 20;
  std::int64_t events = 64;                     ///< of a request
  std::int64_t pixels = std::int64_t{1} << 24;  ///< of a request, sent or filled in
  std::int64_t json_numbers = std::int64_t{1} << 24;
  std::int64_t json_depth = 16;
};

struct InputTensor {
  std::string name;
  std::string datatype;
  std::vector<std::int64_t> shape;
  /// Either the numbers as they are in memory, little-endian, or of BYTES the one element; in
  /// memory of the front end, ...
  std::optional<std::string_view> bytes = {};
  /// ... or as they were written.
  std::vector<double> numbers = {};
};

struct RequestedOutput {
  std::string name;
  bool binary = false;
};

struct InferRequest {
  std::string id = {};
  std::vector<InputTensor> inputs = {};
  std::vector<RequestedOutput> outputs = {};  ///< none: whatever fits the input
  bool binary_output = false;                 ///< of outputs that do not say
  std::int64_t priority = 0;                  ///< 1 is the highest; 0 leaves it to the server
  std::int64_t timeout_microseconds = 0;      ///< 0 for none
  std::optional<std::int64_t> events = {};    ///< of a sparse input that may have empty ones
};

/// The one element of a BYTES tensor as it travels: after four bytes with its length. Throws
/// Refusal if it is something else.
std::string_view only_element(std::string_view bytes);

struct OutputTensor {
  std::string name;
  std::string datatype;
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< little-endian
  bool binary = false;
};

}  // namespace cosmic::serve
