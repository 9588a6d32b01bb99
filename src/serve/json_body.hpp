// Bodies of the open inference protocol over HTTP: JSON, behind which tensors may follow as bytes
// (the binary tensor extension).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/infer_request.hpp"

namespace cosmic::serve {

/// `json_bytes` is the header Inference-Header-Content-Length: where the JSON ends; without it all
/// of the body is JSON. The request looks at memory of the body. Throws Refusal.
InferRequest infer_request_from(std::string_view body, std::optional<std::size_t> json_bytes,
                                const Limits& limits);

struct AnswerHead {
  std::string id;
  std::string model;
  std::string version;
  std::string fingerprint;  ///< of the weights, so that who computed can be written down
};

struct AnswerBody {
  std::string bytes;
  std::optional<std::size_t> json_bytes;  ///< if tensors follow the JSON
};

/// Takes the outputs, whose memory it gives back one by one.
AnswerBody answer_body(const AnswerHead& head, std::vector<OutputTensor> outputs);

/// {"error": "..."}
std::string error_body(std::string_view text);

}  // namespace cosmic::serve
