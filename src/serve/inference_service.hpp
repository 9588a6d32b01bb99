// What every front end offers, without a protocol: models by name, inference, whether the server is
// ready, and an end that loses nothing.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "serve/access_log.hpp"
#include "serve/event_tensors.hpp"
#include "serve/model_repository.hpp"
#include "serve/token.hpp"

namespace cosmic::serve {

struct ServiceOptions {
  Limits limits = {};
  std::optional<BearerToken> token = {};  ///< that clients must show
  std::int64_t timeout_microseconds = 0;  ///< of requests that name none; 0 for none
};

/// An answer with what is to be told and written down about it.
struct ServiceAnswer {
  std::shared_ptr<const ServedModel> model;  ///< kept by the request that it answers
  std::string id;
  std::vector<OutputTensor> outputs;
  std::int64_t events = 0;
  CallTimes times;
};

class InferenceService {
 public:
  InferenceService(ModelRepository& models, AccessLog& log, ServiceOptions options)
      : models_(models), log_(log), options_(std::move(options)) {}

  ModelRepository& models() { return models_; }
  const ModelRepository& models() const { return models_; }
  AccessLog& log() { return log_; }
  const Limits& limits() const { return options_.limits; }

  /// Throws Refusal unless the header shows the token, if one is needed.
  void require_token(std::string_view authorization_header) const;

  /// Between start and end.
  bool ready() const { return !ending_; }
  /// From now on it says that it is not ready, and takes no new requests.
  void begin_end() { ending_ = true; }

  /// `decode` makes the request, and is charged to the model. Throws Refusal.
  ServiceAnswer infer(const std::string& model, const std::string& version,
                      const std::function<InferRequest()>& decode,
                      const std::function<bool()>& cancelled);

 private:
  ModelRepository& models_;
  AccessLog& log_;
  ServiceOptions options_;
  std::atomic<bool> ending_ = false;
};

}  // namespace cosmic::serve
