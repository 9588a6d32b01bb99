// The gRPC front end, asked by a C++ client with stubs that protoc made of the protocol's
// definition: every call that Triton's client library makes, and what happens to calls that go
// wrong.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <cmath>
#include <limits>
#include <thread>

#include "data/larcv/predictions.hpp"
#include "inference.grpc.pb.h"
#include "serve/grpc/grpc_server.hpp"
#include "serve/served_tiny.hpp"

namespace cosmic::serve::grpc {
namespace {

using ::grpc::ClientContext;
using ::grpc::Status;
using ::grpc::StatusCode;
using inference::GRPCInferenceService;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class GrpcClient : public testing::Test {
 protected:
  void serve(ServiceOptions options = {}, const ServingOptions& serving = tiny_serving()) {
    served_ = std::make_unique<ServedTiny>(std::move(options), serving);
    server_ = std::make_unique<GrpcServer>(GrpcOptions{}, served_->service());
    stub_ = GRPCInferenceService::NewStub(::grpc::CreateChannel(
        "127.0.0.1:" + std::to_string(server_->port()), ::grpc::InsecureChannelCredentials()));
  }
  /// Calls a method of the stub with a patience of its own.
  template <class Request, class Answer>
  Status call(Status (GRPCInferenceService::Stub::*method)(ClientContext*, const Request&, Answer*),
              const std::type_identity_t<Request>& request, Answer& answer,
              const std::string& token = "",
              std::chrono::milliseconds patience = std::chrono::seconds(30)) {
    ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    if (!token.empty()) {
      context.AddMetadata("authorization", token);
    }
    return ((*stub_).*method)(&context, request, &answer);
  }
  Status infer(const inference::ModelInferRequest& request, inference::ModelInferResponse& answer) {
    return call(&GRPCInferenceService::Stub::ModelInfer, request, answer);
  }
  Status infer(const inference::ModelInferRequest& request) {
    inference::ModelInferResponse answer;
    return infer(request, answer);
  }

  /// As Triton's client does it: shapes and types in the message, numbers as raw bytes behind it.
  inference::ModelInferRequest request_for(std::size_t event) const {
    const SentPixels sent = pixels_of(events_[event]);
    inference::ModelInferRequest request;
    request.set_model_name("tiny");
    request.set_id("from C++");
    const auto add = [&](const char* name, const char* type, const std::string& bytes) {
      auto& input = *request.add_inputs();
      input.set_name(name);
      input.set_datatype(type);
      input.add_shape(static_cast<std::int64_t>(sent.charge.size()));
      request.add_raw_input_contents(bytes);
    };
    add("plane", "UINT8", bytes_of(sent.plane));
    add("index", "INT64", bytes_of(sent.index));
    add("charge", "FP32", bytes_of(sent.charge));
    for (const char* const output : {"pixel_cosmic", "pixel_neutrino"}) {
      request.add_outputs()->set_name(output);
    }
    return request;
  }

  const std::vector<data::SparseEvent> events_ = TinyWeights::get().events();
  std::unique_ptr<ServedTiny> served_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<GRPCInferenceService::Stub> stub_;
};

TEST_F(GrpcClient, gets_the_scores_that_infer_writes_to_the_last_bit) {
  serve();
  for (const std::size_t event : {0U, 3U}) {
    inference::ModelInferResponse answer;
    const Status status = infer(request_for(event), answer);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(answer.model_name(), "tiny");
    EXPECT_EQ(answer.model_version(), "2");
    EXPECT_EQ(answer.id(), "from C++");
    ASSERT_EQ(answer.raw_output_contents_size(), 2);
    EXPECT_EQ(answer.outputs(0).datatype(), "FP32");
    const auto number = static_cast<std::int64_t>(event);
    EXPECT_EQ(values_in<float>(answer.raw_output_contents(0)),
              inferred(number, data::larcv::kPixelCosmic, 1));
    EXPECT_EQ(values_in<float>(answer.raw_output_contents(1)),
              inferred(number, data::larcv::kPixelNeutrino, 1));
  }
}

TEST_F(GrpcClient, finds_health_metadata_config_statistics_and_index) {
  serve();
  inference::ServerLiveResponse live;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ServerLive, {}, live).ok() && live.live());
  inference::ServerReadyResponse ready;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ServerReady, {}, ready).ok() && ready.ready());
  inference::ModelReadyRequest of_model;
  of_model.set_name("tiny");
  inference::ModelReadyResponse model_ready;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ModelReady, of_model, model_ready).ok());
  EXPECT_TRUE(model_ready.ready());
  of_model.set_name("another");
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ModelReady, of_model, model_ready).ok());
  EXPECT_FALSE(model_ready.ready()) << "clients of Triton ask until it is";
  inference::ServerMetadataResponse server;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ServerMetadata, {}, server).ok());
  EXPECT_EQ(server.name(), "cosmictagger");
  inference::ModelMetadataRequest about;
  about.set_name("tiny");
  inference::ModelMetadataResponse metadata;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ModelMetadata, about, metadata).ok());
  EXPECT_THAT(metadata.versions(), ElementsAre("1", "2"));
  EXPECT_EQ(metadata.inputs(0).name(), "image");
  inference::ModelConfigRequest config_of;
  config_of.set_name("tiny");
  inference::ModelConfigResponse config;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ModelConfig, config_of, config).ok());
  EXPECT_THAT(config.config().dynamic_batching().preferred_batch_size(), ElementsAre(1, 2));
  EXPECT_TRUE(infer(request_for(0)).ok());
  inference::ModelStatisticsRequest counted;
  counted.set_name("tiny");
  inference::ModelStatisticsResponse statistics;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ModelStatistics, counted, statistics).ok());
  EXPECT_EQ(statistics.model_stats(0).inference_stats().success().count(), 1U);
  inference::RepositoryIndexResponse index;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::RepositoryIndex, {}, index).ok());
  EXPECT_EQ(index.models_size(), 2);
  EXPECT_EQ(index.models(0).state(), "READY");
}

TEST_F(GrpcClient, cannot_load_or_unload_models) {
  serve();
  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("tiny");
  inference::RepositoryModelUnloadResponse unloaded;
  EXPECT_EQ(call(&GRPCInferenceService::Stub::RepositoryModelUnload, unload, unloaded).error_code(),
            StatusCode::PERMISSION_DENIED);
  inference::RepositoryModelLoadRequest load;
  load.set_model_name("tiny");
  inference::RepositoryModelLoadResponse loaded;
  EXPECT_EQ(call(&GRPCInferenceService::Stub::RepositoryModelLoad, load, loaded).error_code(),
            StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(infer(request_for(0)).ok());
}

TEST_F(GrpcClient, is_told_what_is_wrong_with_its_tensors_and_nothing_of_the_inside) {
  serve();
  const auto refused = [&](const std::function<void(inference::ModelInferRequest&)>& damage) {
    inference::ModelInferRequest request = request_for(0);
    damage(request);
    const Status status = infer(request);
    EXPECT_THAT(status.error_message(), Not(HasSubstr("/proc")));
    EXPECT_THAT(status.error_message(), Not(HasSubstr(".cpp")));
    return status.error_code();
  };
  EXPECT_EQ(refused([](auto& request) {
              std::vector<float> charge =
                  values_in<float>(std::string_view(request.raw_input_contents(2)));
              charge.back() = std::numeric_limits<float>::quiet_NaN();
              request.set_raw_input_contents(2, bytes_of(charge));
            }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& request) { request.set_raw_input_contents(1, "123"); }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& request) {
              request.mutable_inputs(0)->set_shape(0, std::numeric_limits<std::int64_t>::max());
            }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& request) { request.mutable_inputs(0)->set_shape(0, -1); }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& request) { request.mutable_raw_input_contents()->RemoveLast(); }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(
      refused([](auto& request) {
        (*request.mutable_inputs(0)->mutable_parameters())["shared_memory_region"].set_string_param(
            "triton_python_backend_shm_region_1");
      }),
      StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& request) { request.set_model_name("../../etc/passwd"); }),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(refused([](auto& request) {
              (*request.mutable_parameters())["events"].set_int64_param(1'000'000);
            }),
            StatusCode::OUT_OF_RANGE);
  EXPECT_TRUE(infer(request_for(0)).ok());
}

TEST_F(GrpcClient, is_refused_before_a_message_beyond_the_limit_is_read) {
  ServiceOptions options;
  options.limits.body_bytes = 1 << 16;
  serve(std::move(options));
  inference::ModelInferRequest large = request_for(0);
  large.set_raw_input_contents(0, std::string(1 << 17, 'x'));
  EXPECT_EQ(infer(large).error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(infer(request_for(0)).ok());
}

TEST_F(GrpcClient, without_the_token_gets_nothing_but_health) {
  serve({.token = BearerToken("0123456789abcdef")});
  inference::ServerLiveResponse live;
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ServerLive, {}, live).ok());
  inference::ModelInferResponse answer;
  for (const char* const shown :
       {"", "0123456789abcdef", "Bearer 0123456789abcdeg", "Bearer 0123456789abcdef0"}) {
    EXPECT_EQ(
        call(&GRPCInferenceService::Stub::ModelInfer, request_for(0), answer, shown).error_code(),
        StatusCode::UNAUTHENTICATED)
        << shown;
  }
  inference::ServerMetadataResponse server;
  EXPECT_EQ(call(&GRPCInferenceService::Stub::ServerMetadata, {}, server).error_code(),
            StatusCode::UNAUTHENTICATED);
  inference::RepositoryIndexResponse index;
  EXPECT_EQ(call(&GRPCInferenceService::Stub::RepositoryIndex, {}, index).error_code(),
            StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(call(&GRPCInferenceService::Stub::ModelInfer, request_for(0), answer,
                   "Bearer 0123456789abcdef")
                  .ok());
}

/// A server on which one event may wait and which never computes: its only slot is taken.
class BusyGrpcClient : public GrpcClient {
 protected:
  BusyGrpcClient() {
    ServingOptions serving = tiny_serving();
    serving.queue_events = 1;
    serve({}, serving);
    served_->slots().take();
    served_->slots().take();
  }
  ~BusyGrpcClient() override { release(); }
  void release() {
    if (!released_) {
      served_->slots().give_back();
      served_->slots().give_back();
      released_ = true;
    }
  }
  std::int64_t waiting() const { return served_->models().find("tiny")->waiting(); }
  void wait_until_waiting(std::int64_t events) const {
    for (int i = 0; i < 3000 && waiting() != events; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(waiting(), events);
  }

 private:
  bool released_ = false;
};

TEST_F(BusyGrpcClient, is_refused_at_once_with_a_hint_when_to_try_again) {
  std::thread first([&] { EXPECT_TRUE(infer(request_for(0)).ok()); });
  wait_until_waiting(1);
  ClientContext context;
  inference::ModelInferResponse answer;
  const Status status = stub_->ModelInfer(&context, request_for(1), &answer);
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("queue is full"));
  EXPECT_EQ(context.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"), 1U);
  release();
  first.join();
}

TEST_F(BusyGrpcClient, that_gives_up_or_whose_time_is_over_leaves_the_queue) {
  ClientContext context;
  std::thread first([&] {
    inference::ModelInferResponse answer;
    EXPECT_EQ(stub_->ModelInfer(&context, request_for(0), &answer).error_code(),
              StatusCode::CANCELLED);
  });
  wait_until_waiting(1);
  context.TryCancel();
  first.join();
  wait_until_waiting(0);
  inference::ModelInferResponse answer;
  EXPECT_EQ(call(&GRPCInferenceService::Stub::ModelInfer, request_for(0), answer, "",
                 std::chrono::milliseconds(200))
                .error_code(),
            StatusCode::DEADLINE_EXCEEDED);
  wait_until_waiting(0);
}

TEST_F(BusyGrpcClient, whose_call_was_accepted_gets_its_answer_although_the_server_ends) {
  std::thread accepted([&] {
    inference::ModelInferResponse answer;
    const Status status = infer(request_for(0), answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
  });
  wait_until_waiting(1);
  served_->service().begin_end();
  std::thread end([&] { server_->stop(); });
  release();
  accepted.join();
  end.join();
}

}  // namespace
}  // namespace cosmic::serve::grpc
