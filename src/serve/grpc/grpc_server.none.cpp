// In a build without gRPC.
#include "serve/grpc/grpc_server.hpp"
#include "core/error.hpp"

namespace cosmic::serve::grpc {

class GrpcServer::Implementation {};

bool available() {
  return false;
}

GrpcServer::GrpcServer(const GrpcOptions& options, InferenceService&) {
  throw UserError("gRPC on port " + std::to_string(options.port) +
                  " (this build has none); install libgrpc++-dev, libprotobuf-dev and "
                  "protobuf-compiler-grpc and configure anew, or use HTTP");
}
GrpcServer::~GrpcServer() = default;

int GrpcServer::port() const {
  return 0;
}

void GrpcServer::stop() {}

}  // namespace cosmic::serve::grpc
