// With Debian's gRPC and protobuf, which read and write everything here.
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/regular_file.hpp"
#include "core/stopwatch.hpp"
#include "inference.grpc.pb.h"
#include "serve/grpc/grpc_server.hpp"
#include "serve/model_text.hpp"

namespace cosmic::serve::grpc {
namespace {

using ::grpc::ServerContext;
using ::grpc::Status;
using ::grpc::StatusCode;

StatusCode code_of(Reason reason) {
  switch (reason) {
    case Reason::invalid:
      return StatusCode::INVALID_ARGUMENT;
    case Reason::not_found:
      return StatusCode::NOT_FOUND;
    case Reason::too_large:
      return StatusCode::OUT_OF_RANGE;
    case Reason::unauthenticated:
      return StatusCode::UNAUTHENTICATED;
    case Reason::overloaded:
      return StatusCode::RESOURCE_EXHAUSTED;
    case Reason::unavailable:
      return StatusCode::UNAVAILABLE;
    case Reason::deadline:
      return StatusCode::DEADLINE_EXCEEDED;
    case Reason::cancelled:
      return StatusCode::CANCELLED;
    case Reason::internal:
      return StatusCode::INTERNAL;
  }
  COSMIC_ASSERT(false);
}

std::string authorization_in(const ServerContext& context) {
  const auto found = context.client_metadata().find("authorization");
  return found == context.client_metadata().end()
             ? std::string()
             : std::string(found->second.data(), found->second.size());
}

std::int64_t integer_of(const std::string& name, const inference::InferParameter& parameter) {
  if (parameter.has_uint64_param() && parameter.uint64_param() <= INT64_MAX) {
    return static_cast<std::int64_t>(parameter.uint64_param());
  }
  require(parameter.has_int64_param(), Reason::invalid,
          [&] { return "parameter " + printable(name) + " is no integer"; });
  return parameter.int64_param();
}

/// The numbers of whichever list has them.
std::vector<double> numbers_of(const inference::InferTensorContents& contents,
                               const Limits& limits) {
  const int count = contents.int_contents_size() + contents.int64_contents_size() +
                    contents.uint_contents_size() + contents.uint64_contents_size() +
                    contents.fp32_contents_size();
  require(count <= limits.json_numbers, Reason::too_large,
          "too many numbers in lists; send them as raw bytes");
  require(contents.bool_contents_size() == 0 && contents.fp64_contents_size() == 0, Reason::invalid,
          "no input takes BOOL or FP64");
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  const auto add = [&](const auto& list) {
    for (const auto number : list) {
      numbers.push_back(static_cast<double>(number));
    }
  };
  add(contents.int_contents());
  add(contents.int64_contents());
  add(contents.uint_contents());
  add(contents.uint64_contents());
  add(contents.fp32_contents());
  return numbers;
}

InferRequest request_of(const inference::ModelInferRequest& from, const Limits& limits) {
  constexpr int kMostTensors = 32;
  InferRequest request;
  request.id = from.id();
  request.binary_output = true;
  for (const auto& [name, parameter] : from.parameters()) {
    if (name == "priority") {
      request.priority = integer_of(name, parameter);
    } else if (name == "timeout") {
      request.timeout_microseconds = integer_of(name, parameter);
    } else if (name == "events") {
      request.events = integer_of(name, parameter);
    } else {
      throw Refusal(Reason::invalid, "this server has no parameter " + printable(name));
    }
  }
  require(from.inputs_size() <= kMostTensors && from.outputs_size() <= kMostTensors,
          Reason::too_large, "a request of more than 32 tensors");
  const bool raw = from.raw_input_contents_size() > 0;
  require(!raw || from.raw_input_contents_size() == from.inputs_size(), Reason::invalid,
          "raw_input_contents are there for some inputs and not for others");
  for (int i = 0; i < from.inputs_size(); ++i) {
    const auto& input = from.inputs(i);
    require(input.parameters().empty(), Reason::invalid, [&] {
      return "input " + printable(input.name()) + " has parameters, of which this server has none";
    });
    InputTensor& tensor = request.inputs.emplace_back();
    tensor.name = input.name();
    tensor.datatype = input.datatype();
    tensor.shape.assign(input.shape().begin(), input.shape().end());
    if (raw) {
      require(!input.has_contents(), Reason::invalid,
              [&] { return "input " + printable(input.name()) + " has contents twice"; });
      const std::string& bytes = from.raw_input_contents(i);
      tensor.bytes = tensor.datatype == "BYTES" ? only_element(bytes) : std::string_view(bytes);
    } else if (input.contents().bytes_contents_size() == 1) {
      tensor.bytes = input.contents().bytes_contents(0);
    } else {
      tensor.numbers = numbers_of(input.contents(), limits);
    }
  }
  for (const auto& output : from.outputs()) {
    require(output.parameters().empty(), Reason::invalid, [&] {
      return "output " + printable(output.name()) +
             " has parameters, of which this server has none";
    });
    request.outputs.push_back({output.name(), true});
  }
  return request;
}

void put(const CountedTime& time, inference::StatisticDuration* to) {
  to->set_count(time.count);
  to->set_ns(time.nanoseconds);
}

inference::DataType type_of(const std::string& datatype) {
  inference::DataType type = inference::TYPE_INVALID;
  inference::DataType_Parse(datatype == "BYTES" ? "TYPE_STRING" : "TYPE_" + datatype, &type);
  return type;
}

class Methods final : public inference::GRPCInferenceService::Service {
 public:
  explicit Methods(InferenceService& service) : service_(service) {}

  Status ServerLive(ServerContext*, const inference::ServerLiveRequest*,
                    inference::ServerLiveResponse* answer) override {
    answer->set_live(true);
    return Status::OK;
  }
  Status ServerReady(ServerContext*, const inference::ServerReadyRequest*,
                     inference::ServerReadyResponse* answer) override {
    answer->set_ready(service_.ready());
    return Status::OK;
  }
  Status ModelReady(ServerContext* context, const inference::ModelReadyRequest* request,
                    inference::ModelReadyResponse* answer) override {
    return guarded(*context, "ModelReady", [&](AccessRecord&) {
      // As Triton answers: clients that wait for a model ask until it is there.
      try {
        service_.models().find(request->name(), request->version());
        answer->set_ready(service_.ready());
      } catch (const Refusal& refusal) {
        if (refusal.reason() != Reason::not_found) {
          throw;
        }
        answer->set_ready(false);
      }
    });
  }
  Status ServerMetadata(ServerContext* context, const inference::ServerMetadataRequest*,
                        inference::ServerMetadataResponse* answer) override {
    return guarded(*context, "ServerMetadata", [&](AccessRecord&) {
      answer->set_name(server_name());
      answer->set_version(std::string(cosmic::version));
      for (const std::string& extension : protocol_extensions()) {
        answer->add_extensions(extension);
      }
    });
  }
  Status ModelMetadata(ServerContext* context, const inference::ModelMetadataRequest* request,
                       inference::ModelMetadataResponse* answer) override {
    return guarded(*context, "ModelMetadata", [&](AccessRecord&) {
      const auto model = service_.models().find(request->name(), request->version());
      answer->set_name(model->name());
      for (const std::int64_t version : service_.models().versions(model->name())) {
        answer->add_versions(std::to_string(version));
      }
      answer->set_platform(kPlatform);
      const auto add = [](const TensorDescription& tensor, auto* to) {
        to->set_name(tensor.name);
        to->set_datatype(tensor.datatype);
        to->mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
      };
      for (const TensorDescription& tensor : inputs_of(*model)) {
        add(tensor, answer->add_inputs());
      }
      for (const TensorDescription& tensor : outputs_of(*model)) {
        add(tensor, answer->add_outputs());
      }
    });
  }
  Status ModelConfig(ServerContext* context, const inference::ModelConfigRequest* request,
                     inference::ModelConfigResponse* answer) override {
    return guarded(*context, "ModelConfig", [&](AccessRecord&) {
      const auto model = service_.models().find(request->name(), request->version());
      inference::ModelConfig& config = *answer->mutable_config();
      config.set_name(model->name());
      config.set_platform(kPlatform);
      config.set_backend(kPlatform);
      for (const TensorDescription& tensor : inputs_of(*model)) {
        inference::ModelInput& to = *config.add_input();
        to.set_name(tensor.name);
        to.set_data_type(type_of(tensor.datatype));
        to.mutable_dims()->Add(tensor.shape.begin(), tensor.shape.end());
        to.set_optional(tensor.optional);
      }
      for (const TensorDescription& tensor : outputs_of(*model)) {
        inference::ModelOutput& to = *config.add_output();
        to.set_name(tensor.name);
        to.set_data_type(type_of(tensor.datatype));
        to.mutable_dims()->Add(tensor.shape.begin(), tensor.shape.end());
      }
      for (const std::int64_t size : model->options().batch_sizes) {
        config.mutable_dynamic_batching()->add_preferred_batch_size(static_cast<int>(size));
      }
      config.mutable_dynamic_batching()->set_max_queue_delay_microseconds(
          static_cast<std::uint64_t>(model->options().delay.count()));
      for (const auto& [name, value] : model_parameters(*model)) {
        (*config.mutable_parameters())[name].set_string_value(value);
      }
    });
  }
  Status ModelStatistics(ServerContext* context, const inference::ModelStatisticsRequest* request,
                         inference::ModelStatisticsResponse* answer) override {
    return guarded(*context, "ModelStatistics", [&](AccessRecord&) {
      std::vector<std::shared_ptr<const ServedModel>> models = service_.models().all();
      if (!request->name().empty()) {
        models = {service_.models().find(request->name(), request->version())};
      }
      for (const auto& model : models) {
        const serve::ModelStatistics statistics = model->statistics();
        inference::ModelStatistics& to = *answer->add_model_stats();
        to.set_name(model->name());
        to.set_version(std::to_string(model->version()));
        to.set_last_inference(statistics.last_inference_ms);
        to.set_inference_count(statistics.inferences);
        to.set_execution_count(statistics.executions);
        inference::InferStatistics& all = *to.mutable_inference_stats();
        put(statistics.success, all.mutable_success());
        put(statistics.all_failures(), all.mutable_fail());
        put(statistics.queue, all.mutable_queue());
        put(statistics.input, all.mutable_compute_input());
        put(statistics.infer, all.mutable_compute_infer());
        put(statistics.output, all.mutable_compute_output());
        for (const auto& [size, batch] : statistics.batches) {
          inference::InferBatchStatistics& one = *to.add_batch_stats();
          one.set_batch_size(static_cast<std::uint64_t>(size));
          put(batch.input, one.mutable_compute_input());
          put(batch.infer, one.mutable_compute_infer());
          put(batch.output, one.mutable_compute_output());
        }
      }
    });
  }
  Status RepositoryIndex(ServerContext* context, const inference::RepositoryIndexRequest* request,
                         inference::RepositoryIndexResponse* answer) override {
    return guarded(*context, "RepositoryIndex", [&](AccessRecord&) {
      for (const ModelRepository::IndexEntry& entry : service_.models().index()) {
        if (request->ready() && !entry.ready) {
          continue;
        }
        auto& to = *answer->add_models();
        to.set_name(entry.name);
        to.set_version(entry.version);
        to.set_state(entry.ready ? "READY" : "UNAVAILABLE");
        to.set_reason(entry.reason);
      }
    });
  }
  Status RepositoryModelLoad(ServerContext*, const inference::RepositoryModelLoadRequest*,
                             inference::RepositoryModelLoadResponse*) override {
    return elsewhere();
  }
  Status RepositoryModelUnload(ServerContext*, const inference::RepositoryModelUnloadRequest*,
                               inference::RepositoryModelUnloadResponse*) override {
    return elsewhere();
  }

  Status ModelInfer(ServerContext* context, const inference::ModelInferRequest* request,
                    inference::ModelInferResponse* answer) override {
    return guarded(*context, "ModelInfer", [&](AccessRecord& record) {
      record.model = request->model_name();
      record.version = request->model_version();
      record.request_bytes = request->ByteSizeLong();
      ServiceAnswer tagged = service_.infer(
          request->model_name(), request->model_version(),
          [&] {
            InferRequest made = request_of(*request, service_.limits());
            take_deadline(*context, made);
            return made;
          },
          [&] { return context->IsCancelled(); });
      record.version = std::to_string(tagged.model->version());
      record.id = tagged.id;
      record.events = tagged.events;
      record.times = tagged.times;
      answer->set_model_name(tagged.model->name());
      answer->set_model_version(record.version);
      answer->set_id(tagged.id);
      (*answer->mutable_parameters())["weights"].set_string_param(tagged.model->fingerprint());
      for (OutputTensor& output : tagged.outputs) {
        auto& to = *answer->add_outputs();
        to.set_name(output.name);
        to.set_datatype(output.datatype);
        to.mutable_shape()->Add(output.shape.begin(), output.shape.end());
        record.answer_bytes += output.bytes.size();
        answer->add_raw_output_contents(std::move(output.bytes));
      }
    });
  }

 private:
  static Status elsewhere() {
    return {StatusCode::PERMISSION_DENIED,
            "models are loaded and unloaded on the management port, over HTTP"};
  }

  /// Whichever ends first: the call, or the time that the request allows.
  static void take_deadline(const ServerContext& context, InferRequest& request) {
    using std::chrono::system_clock;
    constexpr auto kDay = std::chrono::hours(24);
    const auto left = context.deadline() - system_clock::now();
    if (context.deadline() == system_clock::time_point::max() || left > kDay) {
      return;
    }
    const std::int64_t microseconds = std::max<std::int64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(left).count(), 1);
    request.timeout_microseconds = request.timeout_microseconds == 0
                                       ? microseconds
                                       : std::min(request.timeout_microseconds, microseconds);
  }

  /// Who may ask, what it costs, and nothing about the inside when something goes wrong.
  template <class Make>
  Status guarded(ServerContext& context, const char* method, const Make& make) {
    const Stopwatch watch;
    AccessRecord record;
    Status status = Status::OK;
    try {
      service_.require_token(authorization_in(context));
      make(record);
    } catch (const Refusal& refusal) {
      status = Status(code_of(refusal.reason()), refusal.what());
      if (refusal.reason() == Reason::overloaded) {
        context.AddTrailingMetadata("grpc-retry-pushback-ms", "1000");
      }
    } catch (const std::bad_alloc&) {
      status = Status(StatusCode::RESOURCE_EXHAUSTED, "there is no memory for the request");
    } catch (const std::exception&) {
      status = Status(StatusCode::INTERNAL, "the server could not answer this");
    }
    record.protocol = "grpc";
    record.peer = context.peer();
    record.what = method;
    record.status = status.error_code();
    record.seconds = watch.seconds();
    record.error = status.error_message();
    service_.log().add(record);
    return status;
  }

  InferenceService& service_;
};

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(regular_file(file), std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  COSMIC_REQUIRE(UserError, stream && !content.str().empty(),
                 file.string() << " cannot be read (connections could not be encrypted); give a "
                                  "PEM file");
  return content.str();
}

std::shared_ptr<::grpc::ServerCredentials> credentials_of(const GrpcOptions& options) {
  if (!options.tls) {
    return ::grpc::InsecureServerCredentials();
  }
  ::grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back(
      {content_of(options.tls->second), content_of(options.tls->first)});
  return ::grpc::SslServerCredentials(tls);
}

}  // namespace

/// The library writes to standard error whatever it meets: a port that is taken, every client whose
/// handshake fails. What matters is told otherwise; who looks for more sets GRPC_VERBOSITY.
void silence_library() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) {
    gpr_set_log_function([](gpr_log_func_args*) {});
  }
}

class GrpcServer::Implementation {
 public:
  Implementation(const GrpcOptions& options, InferenceService& service) : methods_(service) {
    silence_library();
    ::grpc::ServerBuilder builder;
    const std::string host = options.address.find(':') == std::string::npos
                                 ? options.address
                                 : "[" + options.address + "]";
    builder.AddListeningPort(host + ":" + std::to_string(options.port), credentials_of(options),
                             &port_);
    builder.RegisterService(&methods_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<std::size_t>(service.limits().body_bytes, std::numeric_limits<int>::max())));
    builder.SetMaxSendMessageSize(-1);  // answers have a limit of their own
    ::grpc::ResourceQuota quota;
    quota.SetMaxThreads(options.calls);
    quota.Resize(service.limits().bodies_bytes);
    builder.SetResourceQuota(quota);
    builder.AddChannelArgument("grpc.so_reuseport", 0);
    builder.AddChannelArgument("grpc.max_metadata_size", 16 << 10);
    // Clients that vanished without a word: idle connections end, others are asked for a sign of
    // life.
    builder.AddChannelArgument("grpc.max_connection_idle_ms", 120'000);
    builder.AddChannelArgument("grpc.keepalive_time_ms", 60'000);
    builder.AddChannelArgument("grpc.keepalive_timeout_ms", 20'000);
    server_ = builder.BuildAndStart();
    COSMIC_REQUIRE(UserError, server_ != nullptr && port_ > 0,
                   "cannot listen for gRPC on "
                       << options.address << ":" << options.port
                       << " (another program may have the port, or the certificate cannot be "
                          "used); choose another");
  }

  int port() const { return port_; }
  void stop() { server_->Shutdown(); }

 private:
  Methods methods_;
  int port_ = 0;
  std::unique_ptr<::grpc::Server> server_;
};

bool available() {
  return true;
}

GrpcServer::GrpcServer(const GrpcOptions& options, InferenceService& service)
    : implementation_(std::make_unique<Implementation>(options, service)) {}

GrpcServer::~GrpcServer() {
  stop();
}

int GrpcServer::port() const {
  return implementation_->port();
}

void GrpcServer::stop() {
  implementation_->stop();
}

}  // namespace cosmic::serve::grpc
