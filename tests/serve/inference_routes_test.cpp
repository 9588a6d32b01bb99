// The protocol over HTTP without a socket: what is asked, what is answered, and what is refused.
#include "serve/http/inference_routes.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "data/larcv/predictions.hpp"
#include "serve/served_tiny.hpp"

namespace cosmic::serve::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Asked : public testing::Test {
 protected:
  static Head head(const std::string& method, const std::string& path) {
    Head made;
    made.method = method;
    made.path = path;
    made.peer = "test";
    return made;
  }
  Answer get(const std::string& path) {
    return routes_.answer(head("GET", path), "", [] { return false; });
  }
  Answer post(const std::string& path, const std::string& body, const std::string& json_length = "",
              const std::string& type = "application/json") {
    Head made = head("POST", path);
    made.headers["content-type"] = type;
    if (!json_length.empty()) {
      made.headers["inference-header-content-length"] = json_length;
    }
    return routes_.answer(made, body, [] { return false; });
  }
  Answer infer(const json& request) { return post("/v2/models/tiny/infer", request.dump()); }
  static json sparse(const SentPixels& sent) {
    const auto count = sent.charge.size();
    return {
        {"inputs",
         {{{"name", "plane"}, {"datatype", "UINT8"}, {"shape", {count}}, {"data", sent.plane}},
          {{"name", "index"}, {"datatype", "INT64"}, {"shape", {count}}, {"data", sent.index}},
          {{"name", "charge"}, {"datatype", "FP32"}, {"shape", {count}}, {"data", sent.charge}}}}};
  }
  static std::vector<float> floats(const json& answer, const std::string& name) {
    for (const json& output : answer.at("outputs")) {
      if (output.at("name") == name) {
        return output.at("data").get<std::vector<float>>();
      }
    }
    ADD_FAILURE() << "no output " << name << " in " << answer.dump().substr(0, 300);
    return {};
  }
  ServedTiny& served() { return served_; }
  InferenceRoutes& routes() { return routes_; }
  const std::vector<data::SparseEvent> events_ = TinyWeights::get().events();

 private:
  ServedTiny served_;
  InferenceRoutes routes_{served_.service()};
};

TEST_F(Asked, says_that_it_is_alive_and_ready_until_it_ends) {
  EXPECT_EQ(get("/v2/health/live").status, 200);
  EXPECT_EQ(get("/v2/health/ready").status, 200);
  EXPECT_EQ(get("/v2/models/tiny/ready").status, 200);
  EXPECT_EQ(get("/v2/models/tiny/versions/2/ready").status, 200);
  served().service().begin_end();
  EXPECT_EQ(get("/v2/health/live").status, 200);
  EXPECT_EQ(get("/v2/health/ready").status, 503);
  EXPECT_EQ(infer(sparse(pixels_of(events_[0]))).status, 503);
}

TEST_F(Asked, describes_itself_and_its_models) {
  const json server = json::parse(get("/v2").body);
  EXPECT_EQ(server["name"], "cosmictagger");
  const json model = json::parse(get("/v2/models/tiny").body);
  EXPECT_EQ(model["versions"], (json{"1", "2"}));
  EXPECT_EQ(model["inputs"][0]["shape"], (json{-1, 3, kRows, kColumns}));
  const json config = json::parse(get("/v2/models/tiny/config").body);
  EXPECT_EQ(config["parameters"]["downsample"]["string_value"], "0");
  EXPECT_EQ(config["parameters"]["times"]["string_value"], "measured");
  EXPECT_EQ(config["dynamic_batching"]["preferred_batch_size"], (json{1, 2}));
  const json index = json::parse(post("/v2/repository/index", "{}").body);
  EXPECT_EQ(index.size(), 2U);
  EXPECT_EQ(index[0]["state"], "READY");
}

TEST_F(Asked, about_sparse_pixels_answers_to_the_last_bit_what_infer_writes) {
  for (const std::size_t event : {0U, 3U}) {
    const Answer answer = infer(sparse(pixels_of(events_[event])));
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json body = json::parse(answer.body);
    EXPECT_EQ(body["model_version"], "2");
    EXPECT_EQ(floats(body, "pixel_cosmic"),
              inferred(static_cast<std::int64_t>(event), data::larcv::kPixelCosmic, 1));
    EXPECT_EQ(floats(body, "pixel_neutrino"),
              inferred(static_cast<std::int64_t>(event), data::larcv::kPixelNeutrino, 1));
    EXPECT_EQ(floats(body, "pixel_tag"),
              inferred(static_cast<std::int64_t>(event), data::larcv::kPixelTag, 1));
  }
}

TEST_F(Asked, about_binary_tensors_of_two_events_answers_what_infer_writes_with_batches_of_two) {
  std::vector<std::int32_t> event;
  SentPixels all;
  for (const std::int32_t which : {0, 1}) {
    const SentPixels sent = pixels_of(events_[static_cast<std::size_t>(which)]);
    event.insert(event.end(), sent.charge.size(), which);
    all.plane.insert(all.plane.end(), sent.plane.begin(), sent.plane.end());
    all.index.insert(all.index.end(), sent.index.begin(), sent.index.end());
    all.charge.insert(all.charge.end(), sent.charge.begin(), sent.charge.end());
  }
  json request{{"parameters", {{"binary_data_output", true}}}, {"id", "seven"}};
  std::string tensors;
  const auto add = [&](const char* name, const char* type, const std::string& bytes) {
    request["inputs"].push_back({{"name", name},
                                 {"datatype", type},
                                 {"shape", {all.charge.size()}},
                                 {"parameters", {{"binary_data_size", bytes.size()}}}});
    tensors += bytes;
  };
  add("plane", "UINT8", bytes_of(all.plane));
  add("index", "INT64", bytes_of(all.index));
  add("charge", "FP32", bytes_of(all.charge));
  add("event", "INT32", bytes_of(event));
  const std::string text = request.dump();
  const Answer answer =
      post("/v2/models/tiny/versions/1/infer", text + tensors, std::to_string(text.size()));
  ASSERT_EQ(answer.status, 200) << answer.body;
  ASSERT_EQ(answer.headers.at(0).first, "Inference-Header-Content-Length");
  const std::size_t length = std::stoull(answer.headers[0].second);
  const json head = json::parse(answer.body.substr(0, length));
  EXPECT_EQ(head["id"], "seven");
  std::string_view rest = std::string_view(answer.body).substr(length);
  for (const json& output : head["outputs"]) {
    const std::size_t size = output["parameters"]["binary_data_size"];
    if (output["name"] == "pixel_cosmic") {
      std::vector<float> expected = inferred(0, data::larcv::kPixelCosmic, 2);
      const std::vector<float> second = inferred(1, data::larcv::kPixelCosmic, 2);
      expected.insert(expected.end(), second.begin(), second.end());
      EXPECT_EQ(values_in<float>(rest.substr(0, size)), expected);
    }
    rest.remove_prefix(size);
  }
  EXPECT_TRUE(rest.empty());
}

TEST_F(Asked, about_a_dense_image_answers_as_about_its_pixels) {
  const SentPixels sent = pixels_of(events_[2]);
  std::vector<float> image(3 * kRows * kColumns);
  for (std::size_t i = 0; i < sent.charge.size(); ++i) {
    const auto id = static_cast<std::uint64_t>(sent.index[i]);
    image[(sent.plane[i] * kRows + id % kRows) * kColumns + id / kRows] = sent.charge[i];
  }
  const json request{{"inputs",
                      {{{"name", "image"},
                        {"datatype", "FP32"},
                        {"shape", {1, 3, kRows, kColumns}},
                        {"data", image}}}}};
  const Answer answer = infer(request);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::vector<float> dense = floats(json::parse(answer.body), "cosmic");
  const std::vector<float> at_pixels =
      floats(json::parse(infer(sparse(sent)).body), "pixel_cosmic");
  for (std::size_t i = 0; i < sent.charge.size(); ++i) {
    const auto id = static_cast<std::uint64_t>(sent.index[i]);
    EXPECT_EQ(dense[(sent.plane[i] * kRows + id % kRows) * kColumns + id / kRows], at_pixels[i]);
  }
}

TEST_F(Asked, answers_in_the_order_in_which_pixels_were_sent) {
  SentPixels sent = pixels_of(events_[0]);
  const std::vector<float> forward = floats(json::parse(infer(sparse(sent)).body), "pixel_cosmic");
  std::reverse(sent.plane.begin(), sent.plane.end());
  std::reverse(sent.index.begin(), sent.index.end());
  std::reverse(sent.charge.begin(), sent.charge.end());
  std::vector<float> backward = floats(json::parse(infer(sparse(sent)).body), "pixel_cosmic");
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(backward, forward);
}

TEST_F(Asked, about_a_larcv_file_answers_for_every_event_of_it) {
  std::ifstream stream(TinyWeights::get().file(), std::ios::binary);
  std::stringstream bytes;
  bytes << stream.rdbuf();
  const Answer answer = post("/v2/models/tiny/infer", bytes.str(), "", "application/x-hdf5");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json body = json::parse(answer.body);
  std::vector<float> expected;
  for (std::int64_t event = 0; event < kEvents; ++event) {
    const std::vector<float> one = inferred(event, data::larcv::kPixelCosmic, 1);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  EXPECT_EQ(floats(body, "pixel_cosmic"), expected);
  EXPECT_EQ(floats(body, "pixel_event").back(), kEvents - 1);
}

TEST_F(Asked, about_no_pixels_at_all_answers_with_none) {
  const Answer answer = infer(sparse({}));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(floats(json::parse(answer.body), "pixel_tag").empty());
}

struct Wrong {
  std::string name;
  std::string body;
  int status;
  std::string says;
};

class AskedWrongly : public Asked, public testing::WithParamInterface<Wrong> {};

std::string pixels(const std::string& plane, const std::string& index, const std::string& charge,
                   const std::string& shape = "[1]", const std::string& more = "") {
  return R"({"inputs":[{"name":"plane","datatype":"INT32","shape":)" + shape + R"(,"data":)" +
         plane + R"(},{"name":"index","datatype":"INT64","shape":)" + shape + R"(,"data":)" +
         index + R"(},{"name":"charge","datatype":"FP32","shape":)" + shape + R"(,"data":)" +
         charge + "}]" + more + "}";
}

INSTANTIATE_TEST_SUITE_P(
    requests, AskedWrongly,
    testing::Values(
        Wrong{"no_json", "hello", 400, "no JSON"}, Wrong{"nothing", "", 400, "no JSON"},
        Wrong{"a_list", "[1, 2]", 400, ""},
        Wrong{"nested_without_end",
              R"({"inputs":[{"name":"image","data":)" + std::string(100'000, '['), 400, "deeply"},
        Wrong{"unknown_input",
              R"({"inputs":[{"name":"imege","datatype":"FP32","shape":[1],"data":[1]}]})", 400,
              "no input 'imege'"},
        Wrong{"plane_too_high", pixels("[3]", "[1]", "[1]"), 400, "plane 3"},
        Wrong{"negative_index", pixels("[0]", "[-1]", "[1]"), 400, "index -1"},
        Wrong{"index_outside", pixels("[0]", "[512]", "[1]"), 400, "512 indices"},
        Wrong{"fraction_as_index", pixels("[0]", "[1.5]", "[1]"), 400, "no integers"},
        Wrong{"charge_beyond_float", pixels("[0]", "[1]", "[1e39]"), 400, "not finite"},
        Wrong{"charge_beyond_double", pixels("[0]", "[1]", "[1e999]"), 400, "no JSON"},
        Wrong{"nan", pixels("[0]", "[1]", "[NaN]"), 400, "no JSON"},
        Wrong{"pixel_twice", pixels("[0,0]", "[1,1]", "[1,2]", "[2]"), 400, "twice"},
        Wrong{"shape_of_another_size", pixels("[0]", "[1]", "[1]", "[2]"), 400, "do not agree"},
        Wrong{"negative_shape", pixels("[0]", "[1]", "[1]", "[-1]"), 400, "negative"},
        Wrong{"shape_that_overflows", pixels("[0]", "[1]", "[1]", "[4611686018427387904,4]"), 400,
              ""},
        Wrong{"too_many_events",
              pixels("[0]", "[1]", "[1]", "[1]", R"(,"parameters":{"events":1000})"), 413,
              "1000 events"},
        Wrong{"negative_events",
              pixels("[0]", "[1]", "[1]", "[1]", R"(,"parameters":{"events":-1})"), 400,
              "without events"},
        Wrong{"unknown_output", pixels("[0]", "[1]", "[1]", "[1]", R"(,"outputs":[{"name":"x"}])"),
              400, "no output 'x'"},
        Wrong{"unknown_parameter",
              pixels("[0]", "[1]", "[1]", "[1]", R"(,"parameters":{"shared_memory_region":"a"})"),
              400, "shared_memory_region"},
        Wrong{"priority_too_low",
              pixels("[0]", "[1]", "[1]", "[1]", R"(,"parameters":{"priority":9})"), 400,
              "priority"},
        Wrong{"time_over_before_it_began",
              pixels("[0]", "[1]", "[1]", "[1]", R"(,"parameters":{"timeout":1})"), 504, "time"},
        Wrong{"binary_size_beyond_the_body",
              R"({"inputs":[{"name":"charge","datatype":"FP32","shape":[1],)"
              R"("parameters":{"binary_data_size":18446744073709551615}}]})",
              400, "2^63"},
        Wrong{"binary_size_of_bytes_that_were_not_sent",
              R"({"inputs":[{"name":"charge","datatype":"FP32","shape":[1],)"
              R"("parameters":{"binary_data_size":4}}]})",
              400, "binary_data_size of 4"},
        Wrong{"image_of_another_size",
              R"({"inputs":[{"name":"image","datatype":"FP32","shape":[1,3,2,2],"data":[0]}]})",
              400, "[1, 3, 2, 2]"},
        Wrong{"image_of_doubles",
              R"({"inputs":[{"name":"image","datatype":"FP64","shape":[1,3,16,32],"data":[0]}]})",
              400, "takes FP32"}),
    [](const auto& wrong) { return wrong.param.name; });

TEST_P(AskedWrongly, is_refused_with_the_reason_and_nothing_of_the_inside) {
  const Answer answer = post("/v2/models/tiny/infer", GetParam().body);
  EXPECT_EQ(answer.status, GetParam().status) << answer.body;
  const std::string error = json::parse(answer.body).at("error");
  EXPECT_THAT(error, HasSubstr(GetParam().says));
  EXPECT_THAT(error, Not(HasSubstr("/")));
  EXPECT_THAT(error, Not(HasSubstr("0x")));
  EXPECT_THAT(error, Not(HasSubstr(".cpp")));
  // And it goes on.
  EXPECT_EQ(infer(sparse(pixels_of(events_[0]))).status, 200);
}

TEST_F(Asked, with_a_binary_nan_refuses) {
  const json request{{"inputs",
                      {{{"name", "plane"}, {"datatype", "UINT8"}, {"shape", {1}}, {"data", {0}}},
                       {{"name", "index"}, {"datatype", "INT64"}, {"shape", {1}}, {"data", {0}}},
                       {{"name", "charge"},
                        {"datatype", "FP32"},
                        {"shape", {1}},
                        {"parameters", {{"binary_data_size", 4}}}}}}};
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    const std::string text = request.dump();
    const Answer answer = post("/v2/models/tiny/infer", text + bytes_of(std::vector<float>{bad}),
                               std::to_string(text.size()));
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("not finite"));
  }
}

TEST_F(Asked, with_a_damaged_file_refuses_without_naming_where_it_was_put) {
  std::ifstream stream(TinyWeights::get().file(), std::ios::binary);
  std::stringstream whole;
  whole << stream.rdbuf();
  const std::string bytes = whole.str();
  for (const std::string& damaged :
       {std::string("no file"), std::string(), bytes.substr(0, 2000)}) {
    const Answer answer = post("/v2/models/tiny/infer", damaged, "", "application/x-hdf5");
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, Not(HasSubstr("/proc")));
  }
}

TEST_F(Asked, for_what_is_not_there_says_so) {
  for (const char* const path :
       {"/", "/v1/models", "/v2/models/none", "/v2/models/tiny/versions/9", "/v2/health/x",
        "/v2/models/tiny/versions/99999999999999999999", "/v2/models/..%2f..", "/etc/passwd",
        "/v2/systemsharedmemory/status", "/v2/repository/models/tiny/load"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_EQ(post("/v2/repository/models/tiny/unload", "").status, 404);
  EXPECT_EQ(get("/v2/models/tiny").status, 200);
}

TEST_F(Asked, for_its_statistics_counts_requests_events_batches_and_failures) {
  infer(sparse(pixels_of(events_[0])));
  post("/v2/models/tiny/infer", "no");
  const json stats = json::parse(get("/v2/models/tiny/stats").body)["model_stats"][0];
  EXPECT_EQ(stats["inference_count"], 1);
  EXPECT_EQ(stats["execution_count"], 1);
  EXPECT_EQ(stats["inference_stats"]["success"]["count"], 1);
  EXPECT_EQ(stats["inference_stats"]["fail"]["count"], 1);
  EXPECT_EQ(stats["batch_stats"][0]["batch_size"], 1);
  ManagementRoutes management(served().service(), ModelControl::none,
                              [] { return ServerGauges{}; });
  const std::string metrics = management.answer(head("GET", "/metrics"), "", {}).body;
  EXPECT_THAT(metrics, HasSubstr("nv_inference_request_success{model=\"tiny\",version=\"2\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("nv_inference_count{model=\"tiny\",version=\"2\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("nv_inference_exec_count{model=\"tiny\",version=\"2\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reason=\"invalid\"} 1\n"));
  EXPECT_THAT(metrics,
              HasSubstr("cosmic_request_duration_seconds_count{model=\"tiny\",version=\"2\"} 1\n"));
}

TEST_F(Asked, to_load_or_unload_does_so_only_if_it_was_allowed) {
  ManagementRoutes refusing(served().service(), ModelControl::none, [] { return ServerGauges{}; });
  EXPECT_EQ(refusing.answer(head("POST", "/v2/repository/models/tiny/unload"), "", {}).status, 400);
  EXPECT_EQ(get("/v2/models/tiny").status, 200);
  ManagementRoutes allowed(served().service(), ModelControl::explicit_requests,
                           [] { return ServerGauges{}; });
  EXPECT_EQ(allowed.answer(head("POST", "/v2/repository/models/tiny/unload"), "", {}).status, 200);
  EXPECT_EQ(get("/v2/models/tiny").status, 404);
  EXPECT_EQ(json::parse(get("/v2/repository/index").body)[0]["state"], "UNAVAILABLE");
  EXPECT_EQ(allowed.answer(head("POST", "/v2/repository/models/tiny/load"), "", {}).status, 200);
  EXPECT_EQ(get("/v2/models/tiny").status, 200);
  // Weights that cannot be used leave the old ones, and the answer names no file.
  served().replace_weights("/nowhere/weights.ckpt");
  const Answer answer = allowed.answer(head("POST", "/v2/repository/models/tiny/load"), "", {});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, Not(HasSubstr("nowhere")));
  EXPECT_EQ(infer(sparse(pixels_of(events_[0]))).status, 200);
}

TEST_F(Asked, while_weights_are_replaced_answers_every_request_with_those_that_it_names) {
  ManagementRoutes management(served().service(), ModelControl::explicit_requests,
                              [] { return ServerGauges{}; });
  const json request = sparse(pixels_of(events_[0]));
  const auto ask = [&] {
    const Answer answer = infer(request);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json body = json::parse(answer.body);
    return std::pair(body["parameters"]["weights"].get<std::string>(),
                     floats(body, "pixel_cosmic"));
  };
  const auto load = [&](const std::filesystem::path& weights) {
    served().replace_weights(weights);
    EXPECT_EQ(management.answer(head("POST", "/v2/repository/models/tiny/load"), "", {}).status,
              200);
  };
  const TinyWeights& weights = TinyWeights::get();
  std::map<std::string, std::vector<float>> right;
  right.insert(ask());
  load(weights.other_checkpoints());
  right.insert(ask());
  ASSERT_EQ(right.size(), 2U);
  std::atomic<bool> done = false;
  std::atomic<int> answers = 0;
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&] {
      while (!done) {
        const auto [fingerprint, scores] = ask();
        EXPECT_EQ(scores, right.at(fingerprint));
        ++answers;
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    load(i % 2 == 0 ? weights.checkpoints() : weights.other_checkpoints());
  }
  // Nothing of it depends on luck: the last ones are asked after the last replacement.
  const int before = answers;
  while (answers < before + 8) {
    std::this_thread::yield();
  }
  done = true;
  for (std::thread& client : clients) {
    client.join();
  }
}

TEST(AskedForAToken, lets_in_who_shows_it_and_nobody_else) {
  ServedTiny served({.token = BearerToken("0123456789abcdef")});
  const InferenceRoutes routes(served.service());
  Head head;
  head.method = "POST";
  head.path = "/v2/models/tiny/infer";
  const auto status = [&](const std::string& shown) {
    head.headers["authorization"] = shown;
    const std::optional<Answer> refused = routes.refuse(head);
    return refused ? refused->status : 200;
  };
  EXPECT_EQ(status("Bearer 0123456789abcdef"), 200);
  for (const char* const wrong :
       {"", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "0123456789abcdef",
        "Bearer 0123456789abcdeg", "Basic 0123456789abcdef",
        "Bearer 0123456789abcdef0123456789abcdef"}) {
    EXPECT_EQ(status(wrong), 401) << wrong;
  }
  head.path = "/v2/health/live";
  EXPECT_EQ(status(""), 200);
}

/// Asks a server with such a log for health, for an event, and for something wrong.
void ask_three_times(ServedTiny& served) {
  InferenceRoutes routes(served.service());
  Head head;
  head.method = "GET";
  head.path = "/v2";
  head.peer = "127.0.0.1:5";
  routes.answer(head, "", {});
  head.method = "POST";
  head.path = "/v2/models/tiny/infer";
  const json request{
      {"id", "42\n\x1b"},
      {"inputs",
       {{{"name", "plane"}, {"datatype", "UINT8"}, {"shape", {1}}, {"data", {0}}},
        {{"name", "index"}, {"datatype", "INT64"}, {"shape", {1}}, {"data", {5}}},
        {{"name", "charge"}, {"datatype", "FP32"}, {"shape", {1}}, {"data", {3.5}}}}}};
  EXPECT_EQ(routes.answer(head, request.dump(), [] { return false; }).status, 200);
  EXPECT_EQ(routes.answer(head, "no", [] { return false; }).status, 400);
}

TEST(AccessLogOfAServer, has_a_line_of_json_for_each_request_with_where_its_time_went) {
  const ScratchFolder folder("access");
  {
    ServedTiny served({}, tiny_serving(), folder / "access.jsonl");
    ask_three_times(served);
    EXPECT_EQ(served.told(), "");
  }
  std::ifstream file(folder / "access.jsonl");
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(json::parse(line));
  }
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["request"], "GET /v2");
  EXPECT_EQ(lines[0]["peer"], "127.0.0.1:5");
  EXPECT_FALSE(lines[0].contains("infer_seconds"));
  EXPECT_EQ(lines[1]["status"], 200);
  EXPECT_EQ(lines[1]["model"], "tiny");
  EXPECT_EQ(lines[1]["version"], "2");
  EXPECT_EQ(lines[1]["id"], "42\n\x1b");
  EXPECT_EQ(lines[1]["events"], 1);
  double parts = 0;
  for (const char* const part :
       {"queue_seconds", "input_seconds", "infer_seconds", "output_seconds"}) {
    EXPECT_GE(lines[1][part].get<double>(), 0) << part;
    parts += lines[1][part].get<double>();
  }
  EXPECT_GT(lines[1]["infer_seconds"].get<double>(), 0);
  EXPECT_LE(parts, lines[1]["seconds"].get<double>());
  EXPECT_EQ(lines[2]["status"], 400);
  EXPECT_NE(lines[2]["error"], "");
  EXPECT_FALSE(lines[1].contains("slow") || lines[1].contains("error"));
}

TEST(AccessLogOfAServer, tells_of_slow_requests_at_once_also_without_a_file) {
  ServedTiny served({}, tiny_serving(), {}, 1e-9);
  ask_three_times(served);
  EXPECT_THAT(served.told(), HasSubstr("slow request: {\"time\""));
  EXPECT_THAT(served.told(), HasSubstr("\"infer_seconds\""));
  EXPECT_THAT(served.told(), HasSubstr("\"slow\":true"));
}

TEST(AskedWhileTheDiskIsFull, goes_on_and_counts_the_lines_that_are_lost) {
  ServedTiny served({}, tiny_serving(), "/dev/full");
  InferenceRoutes routes(served.service());
  Head head;
  head.method = "GET";
  head.path = "/v2";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(routes.answer(head, "", {}).status, 200);
  }
  EXPECT_EQ(served.service().log().lost(), 3U);
  EXPECT_THAT(served.told(), HasSubstr("lines are lost"));
}

}  // namespace
}  // namespace cosmic::serve::http
