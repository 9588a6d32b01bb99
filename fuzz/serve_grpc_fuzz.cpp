// Sends any bytes as a message to the gRPC front end, over a real connection; the first byte
// chooses the method. What comes back is an answer or a status that speaks of the request.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <array>

#include "serve/grpc/grpc_server.hpp"
#include "served_echo.hpp"

namespace cosmic::serve::grpc {
namespace {

constexpr std::array kMethods{
    "ModelInfer",      "ServerLive",          "ServerReady",           "ModelReady",
    "ServerMetadata",  "ModelMetadata",       "ModelConfig",           "ModelStatistics",
    "RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload", "NoSuchMethod"};

class FrontEnd {
 public:
  FrontEnd() {
    google::protobuf::SetLogHandler(nullptr);
  }  // it tells of every string that is no text

  void send(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
      return;
    }
    // Most of what there is to read is in an inference.
    const std::size_t which = data[0] < 200 ? 0 : data[0] % kMethods.size();
    const ::grpc::Slice slice(data + 1, size - 1);
    const ::grpc::ByteBuffer message(&slice, 1);
    ::grpc::ClientContext context;
    constexpr auto kPatience = std::chrono::seconds(60);
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    ::grpc::CompletionQueue queue;
    const auto call = stub_.PrepareUnaryCall(
        &context, std::string("/inference.GRPCInferenceService/") + kMethods[which], message,
        &queue);
    ::grpc::ByteBuffer answer;
    ::grpc::Status status;
    call->StartCall();
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool fine = false;
    queue.Next(&tag, &fine);
    if (status.error_code() == ::grpc::StatusCode::UNAVAILABLE) {
      found("the server is not there any more: " + status.error_message());
    }
    require_no_inside(status.error_message(), {reinterpret_cast<const char*>(data), size});
  }

 private:
  ServedEcho served_;
  GrpcServer server_{{}, served_.service()};
  ::grpc::GenericStub stub_{::grpc::CreateChannel("127.0.0.1:" + std::to_string(server_.port()),
                                                  ::grpc::InsecureChannelCredentials())};
};

}  // namespace
}  // namespace cosmic::serve::grpc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static cosmic::serve::grpc::FrontEnd front_end;
  front_end.send(data, size);
  return 0;
}
