// A port that speaks the open inference protocol over gRPC, if this build has it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "serve/inference_service.hpp"

namespace cosmic::serve::grpc {

/// Is gRPC in this build?
bool available();

struct GrpcOptions {
  std::string address = "127.0.0.1";
  int port = 0;     ///< 0 for any that is free
  int calls = 300;  ///< at the same time
  /// Certificate with its chain, and key, as PEM files.
  std::optional<std::pair<std::filesystem::path, std::filesystem::path>> tls = {};
};

class GrpcServer {
 public:
  /// Listens. Throws UserError if it cannot, or if there is no gRPC.
  GrpcServer(const GrpcOptions& options, InferenceService& service);
  /// Stops.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  int port() const;
  /// Takes no more calls, and returns when the others are answered.
  void stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::serve::grpc
