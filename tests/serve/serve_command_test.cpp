// `cosmictagger serve` as a program, asked by programs: tag, curl, a Python client over gRPC.
#include <gmock/gmock.h>
#include <httplib.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "commands/work_folder.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/predictions.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "serve/client/tagging_client.hpp"

namespace cosmic {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class ServeCommand : public testing::Test {
 protected:
  ServeCommand() {
    folder_.make_events("events.h5");
    folder_.train("out");
  }

  /// Returns when it listens.
  std::unique_ptr<BackgroundProgram> serve(const std::string& words = "") {
    auto program = started(
        "serve --weights tiny=out/checkpoints --http-port 0 --grpc-port 0 --management-port 0 "
        "run.threads=1 " +
        words);
    EXPECT_TRUE(comes_true([&] {
      return folder_.printed().find("serving on") != std::string::npos;
    })) << folder_.printed();
    return program;
  }
  std::unique_ptr<BackgroundProgram> started(const std::string& words) {
    return std::unique_ptr<BackgroundProgram>(new BackgroundProgram(folder_.start(words)));
  }
  std::string port_after(const std::string& text) const {
    std::smatch found;
    const std::string printed = folder_.printed();
    EXPECT_TRUE(std::regex_search(printed, found, std::regex(text + "[a-z0-9:/.]*:([0-9]+)")))
        << printed;
    return found[1];
  }
  std::string url() const { return "http://127.0.0.1:" + port_after("serving on "); }

  static std::vector<float> scores(const std::filesystem::path& file, const char* product,
                                   std::int64_t entry) {
    data::larcv::ReadWarnings warnings;
    const data::larcv::EventFile opened(file, warnings);
    data::SparseImage image;
    data::larcv::Sparse2dReader(opened, product, data::larcv::PixelMeaning::charge, warnings)
        .read(entry, image);
    std::vector<float> values;
    for (const data::SparsePlane& plane : image) {
      values.insert(values.end(), plane.values.begin(), plane.values.end());
    }
    return values;
  }
  data::SparseImage first_event() const {
    const data::larcv::LarcvSource source({.files = {folder_.path() / "events.h5"}});
    data::SparseEvent event;
    source.reader()->read(0, event);
    return event.image;
  }
  std::vector<float> tagged_here() const {
    const Ended ended = folder_.run(
        "tag events.h5 --weights out/checkpoints --output here.h5 --overwrite run.threads=1 "
        "run.minibatch_size=1");
    EXPECT_EQ(ended.status, 0) << ended.output;
    return scores(folder_.path() / "here.h5", data::larcv::kPixelCosmic, 0);
  }
  /// NAME.pem and NAME.key, for 127.0.0.1.
  void make_certificate(const std::string& name) const {
    const CommandResult made = run_command(
        "cd '" + folder_.path().string() +
        "' && openssl req -x509 -newkey rsa:2048 -nodes -keyout " + name + ".key -out " + name +
        ".pem -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1");
    ASSERT_EQ(made.status, 0) << made.output;
  }
  const WorkFolder folder_;
};

TEST_F(ServeCommand, tags_files_of_others_exactly_as_tag_does_and_says_who_computed) {
  auto server = serve();
  const std::vector<float> here = tagged_here();
  const Ended remote =
      folder_.run("tag events.h5 --server " + url() + " --model tiny --output remote.h5");
  ASSERT_EQ(remote.status, 0) << remote.output;
  EXPECT_THAT(remote.output, HasSubstr("computed by " + url() + " tiny version 1 (weights "));
  for (const char* const product :
       {data::larcv::kPixelTag, data::larcv::kPixelCosmic, data::larcv::kPixelNeutrino,
        data::larcv::kCosmicPrediction, data::larcv::kNeutrinoPrediction}) {
    for (std::int64_t entry = 0; entry < 3; ++entry) {
      EXPECT_EQ(scores(folder_.path() / "remote.h5", product, entry),
                scores(folder_.path() / "here.h5", product, entry))
          << product << " " << entry;
    }
  }
  EXPECT_EQ(here.empty(), false);
  // It ends when it is told to, and says so.
  EXPECT_EQ(server->end(SIGTERM), 0);
  EXPECT_THAT(folder_.printed(), HasSubstr("served 3 events"));
}

TEST_F(ServeCommand, answers_curl_and_python_over_grpc_with_the_same_bits) {
  const auto server = serve("--access-log access.jsonl");
  const std::vector<float> here = tagged_here();
  json pixels;
  json request;
  const data::SparseImage image = first_event();
  for (std::size_t plane = 0; plane < image.size(); ++plane) {
    for (std::size_t i = 0; i < image[plane].ids.size(); ++i) {
      pixels["plane"].push_back(plane);
      pixels["index"].push_back(image[plane].ids[i]);
      pixels["charge"].push_back(image[plane].values[i]);
    }
  }
  for (const auto& [name, type] :
       {std::pair("plane", "UINT8"), std::pair("index", "INT64"), std::pair("charge", "FP32")}) {
    request["inputs"].push_back({{"name", name},
                                 {"datatype", type},
                                 {"shape", {pixels["charge"].size()}},
                                 {"data", pixels[name]}});
  }
  request["outputs"] = {{{"name", "pixel_cosmic"}}};
  std::ofstream(folder_.path() / "request.json") << request;
  std::ofstream(folder_.path() / "pixels.json") << pixels;
  if (has_program("curl")) {
    const CommandResult asked = run_command("curl --silent --show-error --data-binary @'" +
                                            (folder_.path() / "request.json").string() + "' " +
                                            url() + "/v2/models/tiny/infer");
    ASSERT_EQ(asked.status, 0) << asked.output;
    const json answer = json::parse(asked.output);
    EXPECT_EQ(answer["outputs"][0]["data"].get<std::vector<float>>(), here);
    const CommandResult metrics =
        run_command("curl --silent http://127.0.0.1:" + port_after("management on ") + "/metrics");
    EXPECT_THAT(metrics.output,
                HasSubstr("nv_inference_request_success{model=\"tiny\",version=\"1\"} 1\n"));
    EXPECT_THAT(run_command("curl --silent " + url() + "/metrics").output, HasSubstr("error"));
    std::ifstream log(folder_.path() / "access.jsonl");
    std::string line;
    ASSERT_TRUE(std::getline(log, line));
    EXPECT_EQ(json::parse(line)["request"], "POST /v2/models/tiny/infer");
  }
  if (folder_.printed().find("gRPC on") == std::string::npos ||
      run_command("/usr/bin/python3 -c 'import grpc, google.protobuf'").status != 0) {
    GTEST_SKIP() << "without gRPC, or without python3-grpcio";
  }
  const CommandResult stubs = run_command("protoc --proto_path=src/serve/grpc --python_out='" +
                                          folder_.path().string() + "' inference.proto");
  ASSERT_EQ(stubs.status, 0) << stubs.output;
  const CommandResult asked =
      run_command("/usr/bin/python3 tests/serve/grpc_client.py '" + folder_.path().string() +
                  "' 127.0.0.1:" + port_after("gRPC on ") + " tiny < '" +
                  (folder_.path() / "pixels.json").string() + "'");
  ASSERT_EQ(asked.status, 0) << asked.output;
  const json answer = json::parse(asked.output);
  EXPECT_EQ(answer["raw"].get<std::vector<float>>(), here);
  EXPECT_EQ(answer["lists"].get<std::vector<float>>(), here);
  EXPECT_EQ(answer["id"], "from python");
  EXPECT_TRUE(answer["live"]);
  EXPECT_TRUE(answer["ready"]);
  EXPECT_EQ(answer["inputs"][0], "image");
  EXPECT_EQ(answer["downsample"], "5");
  EXPECT_GE(answer["successes"], 2);
  EXPECT_EQ(answer["index"], json{"READY"});
  EXPECT_EQ(answer["nan"], "INVALID_ARGUMENT");
  EXPECT_EQ(answer["short"], "INVALID_ARGUMENT");
  EXPECT_EQ(answer["huge"], "INVALID_ARGUMENT");
  EXPECT_EQ(answer["shared memory"], "INVALID_ARGUMENT");
  EXPECT_EQ(answer["in no time"], "DEADLINE_EXCEEDED");
  EXPECT_EQ(answer["load"], "PERMISSION_DENIED");
  EXPECT_EQ(answer["no model"], "NOT_FOUND");
}

TEST_F(ServeCommand, killed_and_started_again_under_load_has_clients_finish_with_right_answers) {
  const std::vector<float> here = tagged_here();
  auto server = serve();
  const std::string port = port_after("serving on ");
  const std::string address = url();
  const data::SparseImage image = first_event();
  constexpr int kClients = 4;
  std::atomic<bool> enough = false;
  std::array<std::atomic<int>, kClients> answers{};
  std::vector<std::thread> clients;
  for (std::atomic<int>& answered : answers) {
    clients.emplace_back([&] {
      serve::client::TaggingClient client({.servers = {address},
                                           .model = "tiny",
                                           .attempts = 200,
                                           .longest_pause = std::chrono::milliseconds(200)});
      while (!enough) {
        std::vector<float> values;
        for (const data::SparsePlane& plane : client.tag(image).cosmic) {
          values.insert(values.end(), plane.values.begin(), plane.values.end());
        }
        EXPECT_EQ(values, here);
        ++answered;
      }
    });
  }
  const auto all_were_answered_again = [&] {
    std::array<int, kClients> before{};
    std::copy(answers.begin(), answers.end(), before.begin());
    return comes_true([&] {
      return std::equal(answers.begin(), answers.end(), before.begin(), std::greater<>());
    });
  };
  for (int kill = 0; kill < 3; ++kill) {
    EXPECT_TRUE(all_were_answered_again());
    server->end(SIGKILL);
    server = started(
        "serve --weights tiny=out/checkpoints --grpc-port -1 --management-port 0 run.threads=1 "
        "--http-port " +
        port);
  }
  EXPECT_TRUE(all_were_answered_again());
  enough = true;
  for (std::thread& client : clients) {
    client.join();
  }
}

/// Of the C library: they begin at multiples of 64 MB.
int heaps_of(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  int heaps = 0;
  for (std::string line; std::getline(maps, line);) {
    std::smatch found;
    constexpr std::uint64_t kApart = 64 << 20;
    heaps += std::regex_match(line, found, std::regex("([0-9a-f]+)-[0-9a-f]+ rw-p .* 0 *")) &&
             std::stoull(found[1], nullptr, 16) % kApart == 0;
  }
  return heaps;
}

TEST_F(ServeCommand, has_few_heaps_however_many_clients_there_were_at_once) {
  const auto server = serve();
  const data::SparseImage image = first_event();
  std::vector<std::thread> clients;
  for (int i = 0; i < 24; ++i) {
    clients.emplace_back([&] {
      serve::client::TaggingClient client({.servers = {url()}, .model = "tiny"});
      for (int k = 0; k < 3; ++k) {
        client.tag(image);
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_LE(heaps_of(server->number()), 4);
}

TEST_F(ServeCommand, without_weights_serves_the_network_that_comes_with_the_program) {
  // In a small form: the real one takes seconds for an event.
  std::filesystem::create_directory(folder_.path() / "box");
  for (const auto& file :
       std::filesystem::directory_iterator(folder_.path() / "out" / "checkpoints")) {
    if (file.path().extension() == ".safetensors") {
      for (const char* const name : {"best.safetensors", "fast.safetensors"}) {
        std::filesystem::copy_file(file.path(), folder_.path() / "box" / name,
                                   std::filesystem::copy_options::overwrite_existing);
      }
    }
  }
  setenv("COSMICTAGGER_WEIGHTS", (folder_.path() / "box").c_str(), 1);
  const std::string ports = "serve --http-port 0 --grpc-port -1 --management-port 0 run.threads=1 ";
  const std::vector<float> here = tagged_here();
  for (const auto& [words, model] :
       {std::pair("", "cosmictagger"), std::pair("--network fast", "fast")}) {
    auto server = started(ports + words);
    // What the one before it printed may still be there.
    const std::string ready = std::string("model ") + model + " version 1";
    ASSERT_TRUE(comes_true([&] {
      const std::string printed = folder_.printed();
      return printed.find(ready) != std::string::npos &&
             printed.find("serving on") != std::string::npos;
    })) << folder_.printed();
    const Ended remote = folder_.run("tag events.h5 --output remote.h5 --overwrite --server " +
                                     url() + " --model " + model);
    EXPECT_EQ(remote.status, 0) << remote.output;
    EXPECT_EQ(scores(folder_.path() / "remote.h5", data::larcv::kPixelCosmic, 0), here);
    EXPECT_EQ(server->end(SIGTERM), 0);
  }
  unsetenv("COSMICTAGGER_WEIGHTS");
}

TEST_F(ServeCommand, of_a_modelled_machine_says_so_at_the_start_and_to_whoever_asks) {
  const auto server = serve("run.compute_mode=IPU");
  EXPECT_THAT(folder_.printed(), HasSubstr("IPU is modelled: this host computes"));
  httplib::Client client(url());
  const httplib::Result answer = client.Get("/v2/models/tiny/config");
  ASSERT_TRUE(answer);
  EXPECT_EQ(json::parse(answer->body)["parameters"]["times"]["string_value"], "modelled");
}

TEST_F(ServeCommand, that_nobody_started_is_an_error_or_a_fallback_that_was_asked_for) {
  const Ended alone = folder_.run("tag events.h5 --server http://127.0.0.1:1 --output a.h5");
  EXPECT_EQ(alone.status, 5) << alone.output;
  EXPECT_THAT(alone.output, HasSubstr("no server has answered"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a.h5"));
  const Ended fallback = folder_.run(
      "tag events.h5 --server http://127.0.0.1:1 --local-fallback --weights out/checkpoints "
      "--output b.h5 "
      "run.threads=1");
  EXPECT_EQ(fallback.status, 0) << fallback.output;
  EXPECT_THAT(fallback.output, HasSubstr("this machine computes"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "b.h5"));
}

TEST_F(ServeCommand, refuses_what_would_do_nothing_or_could_not_be) {
  for (const auto& [words, says] :
       {std::pair("serve --network none", "no network 'none'"),
        std::pair("serve --weights out/checkpoints --replicas 2 run.threads=1",
                  "--replicas 2 with 1 threads"),
        std::pair("serve --weights out/checkpoints --batch-sizes 1,x", "--batch-sizes 1,x"),
        std::pair("serve --weights out/checkpoints --tls-key a.pem", "belong together"),
        std::pair("serve --tls-certificate none.pem --tls-key none.pem",
                  "none.pem: cannot be opened (No such file or directory"),
        std::pair("serve --weights out/checkpoints --devices 0",
                  "--devices 0 with run.compute_mode=CPU"),
        std::pair("serve --weights out/checkpoints run.minibatch_size=2", "--batch-sizes"),
        std::pair("serve --weights ../x=out/checkpoints", "a model is a name"),
        std::pair("serve --weights a=out/checkpoints --weights a=out/checkpoints", "twice"),
        std::pair("tag events.h5 --server http://h:1 --weights out/checkpoints",
                  "--local-fallback"),
        std::pair("tag events.h5 --server http://h:1 run.threads=1", "do nothing here"),
        std::pair("tag events.h5 --server ftp://h:1", "no server"),
        std::pair("tag events.h5 --weights out/checkpoints --local-fallback",
                  "without --server")}) {
    const Ended ended = folder_.run(words);
    EXPECT_EQ(ended.status, 2) << words << ": " << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(says)) << words;
  }
}

TEST_F(ServeCommand, over_tls_lets_in_who_has_the_token) {
  if (!has_program("openssl")) {
    GTEST_SKIP() << "needs openssl (package openssl)";
  }
  make_certificate("cert");
  std::ofstream(folder_.path() / "token") << "0123456789abcdef0123\n";
  std::ofstream(folder_.path() / "wrong") << "0123456789abcdef0124\n";
  const auto server = serve("--tls-certificate cert.pem --tls-key cert.key --token-file token");
  const std::string words =
      "tag events.h5 --server https://127.0.0.1:" + port_after("serving on ") +
      " --model tiny --certificates cert.pem --output ";
  const Ended right = folder_.run(words + "right.h5 --token-file token");
  EXPECT_EQ(right.status, 0) << right.output;
  const Ended wrong = folder_.run(words + "wrong.h5 --token-file wrong");
  EXPECT_EQ(wrong.status, 3) << wrong.output;
  EXPECT_THAT(wrong.output, HasSubstr("needs a token"));
  EXPECT_THAT(wrong.output, HasSubstr("and wrong has another one"));
  const Ended none = folder_.run(words + "none.h5");
  EXPECT_THAT(none.output, HasSubstr("needs a token"));
  EXPECT_THAT(none.output, HasSubstr("--token-file FILE"));
  EXPECT_THAT(folder_.run(words + "none.h5 --token-file nowhere").output,
              HasSubstr("nowhere: cannot be opened (No such file or directory"));
}

TEST_F(ServeCommand, whose_certificate_nobody_trusts_is_asked_nothing_and_only_once) {
  if (!has_program("openssl")) {
    GTEST_SKIP() << "needs openssl (package openssl)";
  }
  make_certificate("cert");
  make_certificate("other");
  std::ofstream(folder_.path() / "token") << "0123456789abcdef0123\n";
  const auto server = serve(
      "--tls-certificate cert.pem --tls-key cert.key --token-file token "
      "--access-log access.jsonl");
  const std::string port = port_after("serving on ");
  const std::string words =
      "tag events.h5 --token-file token --output a.h5 --server https://127.0.0.1:" + port;
  for (const std::string& certificates :
       {std::string(), std::string(" --certificates other.pem")}) {
    const Ended ended = folder_.run(words + certificates);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("not signed by anybody who is trusted here"));
    EXPECT_THAT(ended.output, Not(HasSubstr("asking again")));
  }
  EXPECT_THAT(folder_.run(words + " --certificates none.pem").output,
              HasSubstr("the certificates in none.pem cannot be opened"));
  EXPECT_THAT(folder_.run(words + " --certificates token").output,
              HasSubstr("there are no certificates in token"));
  // Without TLS the same port answers nothing, and what may be wrong is said once.
  const Ended plain = folder_.run("tag events.h5 --output a.h5 --server http://127.0.0.1:" + port);
  EXPECT_EQ(plain.status, 5) << plain.output;
  EXPECT_THAT(plain.output, HasSubstr("a server with TLS wants https://"));
  const std::size_t first = plain.output.find("asking again");
  EXPECT_EQ(plain.output.find("asking again", first + 1), std::string::npos) << plain.output;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a.h5"));
  EXPECT_EQ(content_of(folder_.path() / "access.jsonl"), "");
}

TEST_F(ServeCommand, with_a_key_of_another_certificate_or_a_port_that_is_taken_says_which) {
  if (!has_program("openssl")) {
    GTEST_SKIP() << "needs openssl (package openssl)";
  }
  make_certificate("cert");
  make_certificate("other");
  ASSERT_EQ(
      run_command("cd '" + folder_.path().string() +
                  "' && openssl rsa -aes128 -passout pass:secret -in cert.key -out locked.key")
          .status,
      0);
  const std::string words = "serve --weights out/checkpoints --tls-certificate ";
  for (const auto& [files, says] :
       {std::pair("cert.pem --tls-key other.key", "other.key: is not the key of the certificate"),
        std::pair("cert.key --tls-key cert.key", "cert.key: has no certificate"),
        std::pair("cert.pem --tls-key cert.pem", "cert.pem: has no key"),
        std::pair("cert.pem --tls-key locked.key", "locked.key: has no key that can be used")}) {
    const Ended ended = folder_.run(words + files);
    EXPECT_EQ(ended.status, 2) << files << ": " << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(says));
    EXPECT_THAT(ended.output, Not(HasSubstr("model "))) << "networks were made ready before";
  }
  const auto server = serve();
  const Ended second =
      folder_.run("serve --weights out/checkpoints --http-port 0 --management-port 0 --grpc-port " +
                  port_after("gRPC on "));
  EXPECT_EQ(second.status, 2) << second.output;
  EXPECT_THAT(second.output, HasSubstr("cannot listen for gRPC on 127.0.0.1:"));
  EXPECT_THAT(second.output, Not(HasSubstr("UNKNOWN"))) << "the library speaks too";
}

TEST_F(ServeCommand, notes_in_its_access_log_also_what_it_refused) {
  std::ofstream(folder_.path() / "token") << "0123456789abcdef0123\n";
  const auto server = serve("--token-file token --access-log access.jsonl");
  const int port = std::stoi(port_after("serving on "));
  httplib::Client client("127.0.0.1", port);
  EXPECT_EQ(client.Get("/v2")->status, 401);
  EXPECT_EQ(client.Delete("/v2")->status, 405);
  EXPECT_EQ(client.Post("/v2/models/tiny/infer", "{}", "application/json")->status, 401);
  httplib::Client management("127.0.0.1", std::stoi(port_after("management on ")));
  EXPECT_EQ(management.Get("/metrics")->status, 401);
  std::vector<std::pair<std::string, int>> noted;
  std::istringstream lines(content_of(folder_.path() / "access.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json entry = json::parse(line);
    noted.emplace_back(entry["request"].get<std::string>(), entry["status"].get<int>());
    EXPECT_THAT(entry["peer"].get<std::string>(), HasSubstr("127.0.0.1:"));
    EXPECT_THAT(entry["error"].get<std::string>(), Not(HasSubstr("0123456789abcdef")));
  }
  EXPECT_THAT(noted, testing::ElementsAre(std::pair("GET /v2", 401), std::pair("DELETE /v2", 405),
                                          std::pair("POST /v2/models/tiny/infer", 401),
                                          std::pair("GET /metrics", 401)));
}

/// Sets how many files this process, and programs that it starts, may have open.
class OpenFiles {
 public:
  explicit OpenFiles(rlim_t soft) {
    getrlimit(RLIMIT_NOFILE, &before_);
    struct rlimit limit = before_;
    limit.rlim_cur = soft;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OpenFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

 private:
  struct rlimit before_ {};
};

std::vector<std::unique_ptr<httplib::Client>> connected(int port, int count) {
  std::vector<std::unique_ptr<httplib::Client>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<httplib::Client>("127.0.0.1", port));
    clients.back()->set_keep_alive(true);
    const auto answer = clients.back()->Get("/v2/health/live");
    if (!answer || answer->status != 200) {
      clients.pop_back();
    }
  }
  return clients;
}

TEST_F(ServeCommand, has_more_connections_than_a_shell_allows_open_files) {
  std::unique_ptr<BackgroundProgram> server;
  {
    const OpenFiles few(64);
    server = serve();
  }
  EXPECT_EQ(connected(std::stoi(port_after("serving on ")), 200).size(), 200U);
}

TEST_F(ServeCommand, that_may_not_have_so_many_connections_says_so_and_refuses_the_rest_at_once) {
  const std::filesystem::path printed = folder_.path() / "limited.txt";
  const BackgroundProgram server(
      "/bin/sh", folder_.path(),
      {"-c", "ulimit -n 100; exec '" + std::string(COSMICTAGGER_PROGRAM) +
                 "' serve --weights tiny=out/checkpoints --http-port 0 --grpc-port -1 "
                 "--management-port 0 run.threads=1"},
      printed);
  ASSERT_TRUE(comes_true([&] {
    return content_of(printed).find("serving on") != std::string::npos;
  })) << content_of(printed);
  EXPECT_THAT(content_of(printed),
              HasSubstr("--connections 1536: this process may open 100 files, so 50 connections"));
  std::smatch found;
  const std::string said = content_of(printed);
  ASSERT_TRUE(std::regex_search(said, found, std::regex("serving on http://127.0.0.1:([0-9]+)")));
  const int port = std::stoi(found[1]);
  const auto clients = connected(port, 80);
  EXPECT_EQ(clients.size(), 50U);
  const auto refused = httplib::Client("127.0.0.1", port).Get("/v2/health/live");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
}

}  // namespace
}  // namespace cosmic
