// Attacks and defects that other servers and libraries had, by the class that they are of, each
// sent to this one over a real connection.
#include <gmock/gmock.h>
#include <httplib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "checkpoint/hostile_pickles.hpp"
#include "serve/http/http_server.hpp"
#include "serve/http/inference_routes.hpp"
#include "serve/served_tiny.hpp"

namespace cosmic::serve::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class KnownAttack : public testing::Test {
 protected:
  explicit KnownAttack(ServiceOptions options = {}) : served_(std::move(options)) {}

  json request() const {
    const SentPixels sent = pixels_of(events_[0]);
    const auto count = sent.charge.size();
    return {
        {"inputs",
         {{{"name", "plane"}, {"datatype", "UINT8"}, {"shape", {count}}, {"data", sent.plane}},
          {{"name", "index"}, {"datatype", "INT64"}, {"shape", {count}}, {"data", sent.index}},
          {{"name", "charge"}, {"datatype", "FP32"}, {"shape", {count}}, {"data", sent.charge}}}}};
  }
  int ask() {
    const auto answer = client_.Post(kInfer, request().dump(), "application/json");
    return answer ? answer->status : 0;
  }
  /// The status; what is said must not speak of the inside.
  int attack(const std::string& path, const std::string& body,
             const char* type = "application/json") {
    const auto answer = client_.Post(path.c_str(), body, type);
    if (!answer) {
      return 0;
    }
    for (const char* const inside : {"/proc", "/tmp", "0x", ".cpp", "std::", "shm"}) {
      EXPECT_THAT(answer->body, Not(HasSubstr(inside)));
    }
    return answer->status;
  }
  int manage(const std::string& path) {
    const auto answer = management_client_.Post(path.c_str(), "", "application/json");
    return answer ? answer->status : 0;
  }

  static constexpr const char* kInfer = "/v2/models/tiny/infer";
  const std::vector<data::SparseEvent> events_ = TinyWeights::get().events();
  ServedTiny served_;
  InferenceRoutes routes_{served_.service()};
  ManagementRoutes management_routes_{served_.service(), ModelControl::explicit_requests,
                                      [] { return ServerGauges{}; }};
  HttpServer server_{ServerOptions{}, routes_};
  HttpServer management_{ServerOptions{}, management_routes_};
  httplib::Client client_{"127.0.0.1", server_.port()};
  httplib::Client management_client_{"127.0.0.1", management_.port()};
};

// CVE-2025-32434, CVE-2026-24747: weights that are a program.
TEST_F(KnownAttack, by_weights_that_are_a_program_runs_nothing_and_leaves_the_old_weights) {
  const ScratchFolder folder("hostile");
  for (const checkpoint::HostilePickle& pickle : checkpoint::hostile_pickles()) {
    const std::filesystem::path file = folder.path() / "weights.ckpt";
    std::ofstream(file, std::ios::binary) << pickle.bytes;
    served_.replace_weights(file);
    EXPECT_EQ(manage("/v2/repository/models/tiny/load"), 400) << pickle.name;
  }
  EXPECT_EQ(ask(), 200);
}

// CVE-2022-25882, CVE-2024-27318, CVE-2026-27489, CVE-2026-34446, CVE-2026-34447: names that lead
// out of a folder.
TEST_F(KnownAttack, by_names_that_lead_elsewhere_finds_nothing) {
  for (const char* const name :
       {"..", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "tiny%00",
        "tiny/../../../etc/passwd", "/etc/passwd", "file:///etc/passwd"}) {
    EXPECT_EQ(manage("/v2/repository/models/" + std::string(name) + "/load"), 404) << name;
    EXPECT_EQ(manage("/v2/repository/models/" + std::string(name) + "/unload"), 404) << name;
    EXPECT_EQ(attack("/v2/models/" + std::string(name) + "/infer", request().dump()), 404) << name;
  }
  // Triton's way to send weights or a configuration with the request.
  EXPECT_EQ(attack(kInfer, R"({"parameters":{"file:../../x":"AAAA"},"inputs":[]})"), 400);
  EXPECT_EQ(ask(), 200);
}

// CVE-2026-26200 and many before it: files that break the HDF5 library. Ours reads them; its own
// fuzzer and 200 broken files go further.
TEST_F(KnownAttack, by_a_damaged_file_is_refused) {
  std::ifstream stream(TinyWeights::get().file(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), {});
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    const int status = attack(kInfer, damaged, "application/x-hdf5");
    EXPECT_TRUE(status == 200 || status == 400) << status << " at " << at;
  }
  EXPECT_EQ(attack(kInfer, whole.substr(0, whole.size() / 2), "application/x-hdf5"), 400);
  EXPECT_EQ(attack(kInfer, whole, "application/x-hdf5"), 200);
}

// CVE-2025-23310, CVE-2025-23311: three megabytes in tiny chunks.
TEST_F(KnownAttack, by_tiny_chunks_costs_no_stack) {
  std::size_t sent = 0;
  const auto answer = client_.Post(
      kInfer,
      [&](std::size_t, httplib::DataSink& sink) {
        constexpr std::size_t kChunks = 300'000;
        sink.write("[", 1);
        if (++sent == kChunks) {
          sink.done();
        }
        return true;
      },
      "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(ask(), 200);
}

// CVE-2025-23319, CVE-2025-23320, CVE-2025-23334: an error that names shared memory, which a client
// may then name itself.
TEST_F(KnownAttack, by_names_of_shared_memory_learns_nothing_and_reaches_nothing) {
  for (const char* const path :
       {"/v2/systemsharedmemory/status", "/v2/cudasharedmemory/status",
        "/v2/systemsharedmemory/region/a/register", "/v2/cudasharedmemory/region/a/register",
        "/v2/systemsharedmemory/unregister"}) {
    EXPECT_EQ(attack(path, R"({"key":"/a","offset":0,"byte_size":64})"), 404) << path;
  }
  json with_region = request();
  with_region["inputs"][0].erase("data");
  with_region["inputs"][0]["parameters"] = {{"shared_memory_region", "region"},
                                            {"shared_memory_byte_size", 64}};
  EXPECT_EQ(attack(kInfer, with_region.dump()), 400);
  // What made Triton's error: a tensor so large that memory for it cannot be had.
  json large = request();
  large["inputs"][0]["shape"] = {std::int64_t{1} << 62};
  EXPECT_EQ(attack(kInfer, large.dump()), 400);
  EXPECT_EQ(ask(), 200);
}

// CVE-2025-33201, CVE-2026-24173: requests that are larger, or claim to be, than anybody can hold.
TEST_F(KnownAttack, by_size_is_refused_before_memory_is_taken) {
  const auto claim = [&](const std::string& length) {
    httplib::Headers headers{{"Inference-Header-Content-Length", length}};
    const auto answer = client_.Post(kInfer, headers, request().dump(), "application/json");
    return answer ? answer->status : 0;
  };
  EXPECT_EQ(claim("18446744073709551615"), 400);
  EXPECT_EQ(claim("99999999999999999999999"), 400);
  EXPECT_EQ(claim("-1"), 400);
  EXPECT_EQ(attack(kInfer, std::string((64 << 20) + 1, ' ')), 413);
  json tensor = request();
  tensor["inputs"][2] = {{"name", "charge"},
                         {"datatype", "FP32"},
                         {"shape", {1}},
                         {"parameters", {{"binary_data_size", std::int64_t{1} << 62}}}};
  EXPECT_EQ(attack(kInfer, tensor.dump()), 400);
  json events = request();
  events["parameters"]["events"] = std::int64_t{1} << 62;
  EXPECT_EQ(attack(kInfer, events.dump()), 413);
  EXPECT_EQ(ask(), 200);
}

class KnownAttackOnToken : public KnownAttack {
 protected:
  KnownAttackOnToken() : KnownAttack({.token = BearerToken("0123456789abcdef")}) {}
};

// CVE-2026-24207: ways around the token.
TEST_F(KnownAttackOnToken, by_other_spellings_of_an_address_gets_no_further) {
  for (const char* const path :
       {"/v2", "/v2/", "//v2", "/v2/models/tiny", "/v2/models/tiny/infer", "//v2//models/tiny",
        "/v2/health/live/../../models/tiny", "/v2/health/live/", "/v2/health/live/x",
        "/v2/health//live", "/v2%2fmodels%2ftiny", "/V2/health/live", "/v2/repository/index",
        "/v2/models/stats", "/v2/models/tiny/config", "/v2/models/tiny/ready"}) {
    const auto got = client_.Get(path);
    ASSERT_TRUE(got) << path;
    EXPECT_EQ(got->status, 401) << path;
    EXPECT_EQ(attack(path, request().dump()), 401) << path;
  }
  for (const char* const path :
       {"/metrics", "/v2/health/live/../../../metrics", "/v2/repository/models/tiny/unload"}) {
    EXPECT_EQ(manage(path), 401) << path;
    const auto got = management_client_.Get(path);
    EXPECT_EQ(got ? got->status : 0, 401) << path;
  }
  // Two tokens, of which one is right, are no token.
  const auto twice = client_.Get(
      "/v2", {{"Authorization", "Bearer wrong"}, {"Authorization", "Bearer 0123456789abcdef"}});
  EXPECT_EQ(twice ? twice->status : 0, 401);
  const auto right = client_.Get("/v2", {{"Authorization", "Bearer 0123456789abcdef"}});
  EXPECT_EQ(right ? right->status : 0, 200);
}

// Tensors of zeros where something failed, scores that are no numbers.
TEST_F(KnownAttack, by_a_charge_of_which_no_score_can_be_made_gets_an_error_and_no_scores) {
  served_.replace_weights(TinyWeights::get().other_checkpoints());
  ASSERT_EQ(manage("/v2/repository/models/tiny/load"), 200);
  json low = request();
  low["inputs"][2]["data"][0] = -2.0;  // finite, but the network takes the logarithm of 1 more
  const auto answer = client_.Post(kInfer, low.dump(), "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_THAT(answer->body, HasSubstr("nothing can be said about it"));
  EXPECT_THAT(answer->body, Not(HasSubstr("outputs")));
  EXPECT_EQ(ask(), 200);
}

}  // namespace
}  // namespace cosmic::serve::http
