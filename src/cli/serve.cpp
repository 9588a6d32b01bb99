// `cosmictagger serve`: trained networks behind the open inference protocol v2.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/decided_settings.hpp"
#include "cli/run_command.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/open_files.hpp"
#include "core/thread_budget.hpp"
#include "data/detector/geometry.hpp"
#include "model/enum_text.hpp"
#include "serve/grpc/grpc_server.hpp"
#include "serve/heap_limits.hpp"
#include "serve/http/http_server.hpp"
#include "serve/http/inference_routes.hpp"
#include "serve/served_network.hpp"
#include "tagger/box.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> weights;
  std::string network;  ///< in the box
  std::string repository;
  std::string address = "127.0.0.1";
  int http_port = 8000;
  int grpc_port = serve::grpc::available() ? 8001 : -1;  ///< -1 for none
  int management_port = 8002;
  std::string batch_sizes = "1";
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int replicas = 1;
  std::string devices;
  std::int64_t queue = 64;
  double delay_ms = 0;
  double timeout_s = 0;
  std::int64_t max_events = 64;
  std::int64_t max_body_mb = 64;
  std::int64_t connections = 1536;
  std::string token_file;
  std::string certificate;
  std::string key;
  bool model_control = false;
  std::string access_log;
  double slow_ms = 0;
};

/// "1,2,8"
std::vector<std::int64_t> numbers_in(const std::string& text, const char* option,
                                     std::int64_t least) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t number = 0;
    const auto [last, error] = std::from_chars(at, end, number);
    constexpr std::int64_t kMost = 1024;
    COSMIC_REQUIRE(
        UserError,
        error == std::errc() && number >= least && number <= kMost && (last == end || *last == ','),
        option << " " << text << " (it takes numbers from " << least
               << " to 1024 with commas between them); write for example " << option << " 1,2,4");
    numbers.push_back(number);
    if (last == end) {
      return numbers;
    }
    at = last + 1;
  }
}

constexpr std::array kDecidedByServer{DecidedSetting{"data.file", "events come with requests"},
                                      DecidedSetting{"mode.weights_location", "give --weights"},
                                      DecidedSetting{"run.minibatch_size", "give --batch-sizes"},
                                      DecidedSetting{"run.device", "give --devices"}};

data::ImageMeta grid_of(const ServeOptions& options) {
  COSMIC_REQUIRE(UserError, (options.rows > 0) == (options.columns > 0),
                 "--rows " << options.rows << " --columns " << options.columns
                           << " (0 means those of the detector); give both or neither");
  data::ImageMeta grid = data::detector::meta_of(0);
  if (options.rows > 0) {
    grid.pixels = {static_cast<std::uint64_t>(options.columns),
                   static_cast<std::uint64_t>(options.rows)};
    grid.size = {static_cast<double>(options.columns), static_cast<double>(options.rows)};
  }
  return grid;
}

serve::ServingOptions serving_options(const ServeOptions& options,
                                      const config::Configuration& configuration) {
  serve::ServingOptions serving;
  serving.grid = grid_of(options);
  serving.batch_sizes = numbers_in(options.batch_sizes, "--batch-sizes", 1);
  std::sort(serving.batch_sizes.begin(), serving.batch_sizes.end());
  serving.batch_sizes.erase(std::unique(serving.batch_sizes.begin(), serving.batch_sizes.end()),
                            serving.batch_sizes.end());
  serving.replicas = options.replicas;
  const ThreadBudget budget = thread_budget();
  const int threads =
      configuration.run.threads > 0 ? static_cast<int>(configuration.run.threads) : budget.threads;
  COSMIC_REQUIRE(UserError, options.replicas <= threads,
                 "--replicas " << options.replicas << " with " << threads
                               << " threads (each replica needs one of its own); give fewer, or "
                                  "run.threads="
                               << options.replicas);
  serving.threads = threads / options.replicas;
  if (!options.devices.empty()) {
    COSMIC_REQUIRE(UserError, configuration.run.compute_mode == config::ComputeMode::gpu,
                   "--devices " << options.devices << " with run.compute_mode="
                                << model::to_string(configuration.run.compute_mode)
                                << " (only GPUs are several devices, so it would do nothing); add "
                                   "run.compute_mode=GPU, or leave it out");
    serving.devices.clear();
    for (const std::int64_t device : numbers_in(options.devices, "--devices", 0)) {
      serving.devices.push_back(static_cast<int>(device));
    }
  }
  serving.queue_events = options.queue;
  serving.delay = std::chrono::microseconds(static_cast<std::int64_t>(options.delay_ms * 1000));
  return serving;
}

/// Makes models of weights as `tag` would take them up.
class ModelMaker {
 public:
  ModelMaker(const ServeOptions& options, std::vector<std::string> words)
      : options_(options), words_(std::move(words)), slots_(options.replicas) {}

  std::shared_ptr<const serve::ServedModel> make(const serve::ModelSource& source) {
    std::vector<std::string> words = words_;
    words.push_back("mode.weights_location=" + source.weights.string());
    if (std::none_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.starts_with("run.id="); })) {
      words.emplace_back("run.id=serve");
    }
    try {
      const config::Configuration configuration = configuration_from(words, config::Command::infer);
      const auto warn = [](const std::string& text) { tell("cosmictagger serve: {}\n", text); };
      const std::string target = target_for(configuration.run.compute_mode);
      auto model =
          serve::serve_network(source, configuration, {target, target::provenance_of(target)},
                               serving_options(options_, configuration), slots_, warn);
      show(stdout,
           fmt::format("model {} version {}: weights {} (step {}), images of {} x {}, batches of "
                       "{}, {} x {} threads\n",
                       model->name(), model->version(), model->fingerprint(), model->step(),
                       model->shape().rows, model->shape().columns, options_.batch_sizes,
                       model->options().replicas, model->options().threads));
      if (model->provenance() == Provenance::modelled) {
        tell(
            "cosmictagger serve: {} is modelled: this host computes, in the machine's number "
            "formats, and every time in answers, metrics and logs is this host's\n",
            model::to_string(configuration.run.compute_mode));
      }
      return model;
    } catch (const Error& error) {
      if (serving_) {  // before that it is the program's own error
        tell("cosmictagger serve: model {} version {}: {}\n", source.name, source.version,
             error.what());
      }
      throw;
    }
  }

  /// From now on there are others whose errors are not for the log.
  void begin_serving() { serving_ = true; }

 private:
  const ServeOptions& options_;
  std::vector<std::string> words_;
  serve::ComputeSlots slots_;
  bool serving_ = false;
};

std::vector<serve::ModelSource> sources_of(const ServeOptions& options) {
  std::vector<serve::ModelSource> sources;
  for (const std::string& text : options.weights) {
    sources.push_back(serve::model_source(text));
  }
  if (!options.repository.empty()) {
    const std::vector<serve::ModelSource> in_folder = serve::model_sources_in(options.repository);
    sources.insert(sources.end(), in_folder.begin(), in_folder.end());
  }
  if (!options.network.empty()) {
    sources.push_back({options.network, 1, tagger::boxed_network(options.network)});
  }
  if (sources.empty()) {
    sources.push_back({serve::kDefaultModel, 1, tagger::boxed_network()});
  }
  return sources;
}

serve::http::ServerOptions http_options(const ServeOptions& options) {
  serve::http::ServerOptions http;
  http.address = options.address;
  http.port = options.http_port;
  http.body_bytes = static_cast<std::size_t>(options.max_body_mb) << 20;
  COSMIC_REQUIRE(UserError, options.certificate.empty() == options.key.empty(),
                 "--tls-certificate and --tls-key belong together (neither is of use alone); give "
                 "both");
  if (!options.certificate.empty()) {
    http.tls = serve::http::Tls{options.certificate, options.key};
    serve::http::require_usable(*http.tls);
  }
  return http;
}

/// As many connections as were asked for, or as the system lets this process have open. Beyond that
/// the system would leave them waiting without a word, where we answer that there are too many.
std::int64_t connections_possible(std::int64_t wanted) {
  constexpr std::int64_t kOthers = 448;  // gRPC's connections, management, weights, logs
  const auto allowed = static_cast<std::int64_t>(
      std::min<std::size_t>(allow_open_files(static_cast<std::size_t>(wanted + kOthers)),
                            static_cast<std::size_t>(wanted + kOthers)));
  const std::int64_t possible = std::max(allowed - kOthers, allowed / 2);
  if (possible >= wanted) {
    return wanted;
  }
  tell(
      "cosmictagger serve: --connections {}: this process may open {} files, so {} connections "
      "are served at once and more are refused; raise the limit (`ulimit -Hn {}`, LimitNOFILE of "
      "systemd), or give --connections {}\n",
      wanted, allowed, possible, wanted + kOthers, possible);
  return possible;
}

bool is_loopback(const std::string& address) {
  return address == "127.0.0.1" || address == "::1" || address == "localhost";
}

void serve_until_stopped(const ServeOptions& options, const std::vector<std::string>& words) {
  require_not_given("serve", kDecidedByServer, words);
  // Before networks are made ready, which takes a while.
  serve::http::ServerOptions for_everybody = http_options(options);
  numbers_in(options.batch_sizes, "--batch-sizes", 1);
  serve::limit_heaps();
  serve::ServiceOptions service_options;
  service_options.limits.body_bytes = static_cast<std::size_t>(options.max_body_mb) << 20;
  service_options.limits.events = options.max_events;
  service_options.timeout_microseconds = static_cast<std::int64_t>(options.timeout_s * 1e6);
  if (!options.token_file.empty()) {
    service_options.token = serve::BearerToken::from_file(options.token_file);
  }
  if (!is_loopback(options.address) && options.token_file.empty()) {
    tell(
        "cosmictagger serve: {} can be reached by others, and nobody needs a token; give "
        "--token-file, and --tls-certificate, unless a proxy sees to it\n",
        options.address);
  }
  const StopSignal stop;
  ModelMaker maker(options, words);
  serve::AccessLog log(options.access_log, options.slow_ms / 1000,
                       [](const std::string& text) { tell("cosmictagger serve: {}\n", text); });
  serve::ModelRepository models(
      [&] { return sources_of(options); },
      [&](const serve::ModelSource& source) { return maker.make(source); });
  maker.begin_serving();
  serve::InferenceService service(models, log, std::move(service_options));
  serve::http::InferenceRoutes routes(service);
  for_everybody.connections = connections_possible(options.connections);
  serve::http::HttpServer http(for_everybody, routes);
  serve::http::ManagementRoutes management_routes(
      service,
      options.model_control ? serve::http::ModelControl::explicit_requests
                            : serve::http::ModelControl::none,
      [&] {
        return serve::ServerGauges{http.connections(), http.connections_refused(), log.lost(),
                                   http.body_bytes()};
      });
  serve::http::ServerOptions management = for_everybody;
  management.port = options.management_port;
  constexpr std::int64_t kManagementConnections = 64;
  management.connections = kManagementConnections;
  serve::http::HttpServer management_http(management, management_routes);
  std::optional<serve::grpc::GrpcServer> grpc;
  std::string grpc_text;
  if (options.grpc_port >= 0) {
    serve::grpc::GrpcOptions grpc_options;
    grpc_options.address = options.address;
    grpc_options.port = options.grpc_port;
    if (!options.certificate.empty()) {
      grpc_options.tls.emplace(options.certificate, options.key);
    }
    grpc.emplace(grpc_options, service);
    grpc_text = fmt::format(", gRPC on {}:{}", options.address, grpc->port());
  }
  const char* const scheme = options.certificate.empty() ? "http" : "https";
  show(stdout,
       fmt::format("serving on {0}://{1}:{2}{4}, metrics and management on {0}://{1}:{3}; "
                   "Ctrl-C ends when accepted requests are answered\n",
                   scheme, options.address, http.port(), management_http.port(), grpc_text));
  constexpr auto kLook = std::chrono::milliseconds(50);
  while (!stop.requested()) {
    COSMIC_REQUIRE(TargetError, http.listening() && management_http.listening(),
                   "the system lets this process take no more connections (a server that none can "
                   "reach is of no use); look for memory or open files that are used up, and start "
                   "it again");
    std::this_thread::sleep_for(kLook);
  }
  show(stdout, fmt::format("{}: finishing accepted requests\n", stop.name()));
  service.begin_end();
  http.stop();
  if (grpc) {
    grpc->stop();
  }
  models.drain();
  management_http.stop();
  std::uint64_t events = 0;
  for (const auto& model : models.all()) {
    events += model->statistics().inferences;
  }
  show(stdout, fmt::format("served {} events\n", events));
}

}  // namespace

void add_serve(Command& app) {
  auto options = std::make_shared<ServeOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "serve", "Serve trained networks over HTTP, by the protocol that clients of Triton speak");
  command
      ->add_option(
          "--weights", options->weights,
          "Trained networks: a checkpoint or a folder of them, with a name as in "
          "sbnd=FILE, and a version as in sbnd/2=FILE. Without any, the network that comes "
          "with the program, as model cosmictagger")
      ->one_at_a_time()
      ->type_name("[NAME[/VERSION]=]FILE");
  command
      ->add_option("--network", options->network,
                   fmt::format("A network that comes with the program, under its name: {}",
                               fmt::join(tagger::kBoxedNetworks, " or ")))
      ->type_name("NAME");
  command->add_option("--repository", options->repository,
                      "A folder of trained networks, as NAME/VERSION");
  command->add_option("--address", options->address, "The address to listen on")
      ->capture_default_str();
  command->add_option("--http-port", options->http_port, "The port for HTTP; 0 for any")
      ->between(std::int64_t{0}, std::int64_t{65535})
      ->capture_default_str();
  command
      ->add_option("--grpc-port", options->grpc_port, "The port for gRPC; 0 for any, -1 for none")
      ->between(std::int64_t{-1}, std::int64_t{65535})
      ->capture_default_str();
  command
      ->add_option("--management-port", options->management_port,
                   "The port for metrics, load and unload; 0 for any")
      ->between(std::int64_t{0}, std::int64_t{65535})
      ->capture_default_str();
  command
      ->add_option("--batch-sizes", options->batch_sizes,
                   "Events of the batches to compile; the largest that can be filled is used")
      ->capture_default_str();
  command->add_option("--rows", options->rows, "Rows of the events as they are sent; 0: detector's")
      ->between(std::int64_t{0}, std::int64_t{1} << 16);
  command->add_option("--columns", options->columns, "Columns of them")
      ->between(std::int64_t{0}, std::int64_t{1} << 16);
  command
      ->add_option("--replicas", options->replicas,
                   "Copies of each network, which share the threads")
      ->between(std::int64_t{1}, std::int64_t{1024})
      ->capture_default_str();
  command->add_option("--devices", options->devices, "Devices that replicas take in turn, as 0,1");
  command->add_option("--queue", options->queue, "Events that may wait; more are refused at once")
      ->between(std::int64_t{1}, std::int64_t{1'000'000})
      ->capture_default_str();
  command
      ->add_option("--max-delay-ms", options->delay_ms,
                   "How long an event may wait for others to fill a batch")
      ->between(0.0, 60'000.0)
      ->capture_default_str();
  command->add_option("--timeout-s", options->timeout_s, "Of requests that name none; 0 for none")
      ->between(0.0, 86'400.0)
      ->capture_default_str();
  command->add_option("--max-events", options->max_events, "Events of a request")
      ->between(std::int64_t{1}, std::int64_t{100'000})
      ->capture_default_str();
  command->add_option("--max-body-mb", options->max_body_mb, "Megabytes of a request")
      ->between(std::int64_t{1}, std::int64_t{4096})
      ->capture_default_str();
  command->add_option("--connections", options->connections, "Connections at once")
      ->between(std::int64_t{1}, std::int64_t{65'536})
      ->capture_default_str();
  command->add_option("--token-file", options->token_file,
                      "A file whose first line clients must show: Authorization: Bearer TOKEN");
  command->add_option("--tls-certificate", options->certificate, "PEM file, with its chain");
  command->add_option("--tls-key", options->key, "PEM file");
  command->add_flag("--allow-model-control", options->model_control,
                    "Load and unload on request, on the management port");
  command->add_option("--access-log", options->access_log, "A file for a line of JSON per request");
  command
      ->add_option("--slow-ms", options->slow_ms,
                   "Tell of requests that take longer, and where their time went; 0 for none")
      ->between(0.0, 1e9)
      ->capture_default_str();
  command->allow_extras();
  command->footer(
      "Settings may follow, such as run.threads=4 or run.compute_mode=GPU; `cosmictagger infer "
      "--help` lists them. Settings that belong to weights are taken from them.");
  command->callback([command, options] { serve_until_stopped(*options, command->remaining()); });
}

}  // namespace cosmic::cli
