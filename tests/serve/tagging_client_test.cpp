// The client that `tag --server` uses, against servers that say what a test wants them to say.
#include "serve/client/tagging_client.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "serve/http/http_server.hpp"

namespace cosmic::serve::client {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// Answers with probabilities for two pixels, or with the statuses that were put in its way first.
class ScriptedServer final : public http::Routes {
 public:
  explicit ScriptedServer(std::vector<int> first = {}) : first_(std::move(first)) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  int asked() const { return asked_; }
  std::int64_t connections() const { return server_.connections(); }
  void stop() { server_.stop(); }

  std::optional<http::Answer> refuse(const http::Head&) const override { return std::nullopt; }
  http::Answer broken(int status) const override { return {.status = status, .body = ""}; }
  http::Answer answer(const http::Head&, std::string_view,
                      const std::function<bool()>& cancelled) override {
    const int which = asked_++;
    http::Answer made;
    if (which < static_cast<int>(first_.size())) {
      made.status = first_[static_cast<std::size_t>(which)];
      made.body = R"({"error":"not now"})";
      if (made.status == kSilence) {
        while (!cancelled()) {
          std::this_thread::sleep_for(milliseconds(5));
        }
      }
      if (made.status == kNonsense) {
        made.status = 200;
        made.body = scores(7.0F);
        made.headers = {{"Inference-Header-Content-Length", std::to_string(json_bytes_)}};
      }
      return made;
    }
    made.body = scores(0.25F);
    made.headers = {{"Inference-Header-Content-Length", std::to_string(json_bytes_)}};
    return made;
  }

  static constexpr int kSilence = -1;
  static constexpr int kNonsense = -2;  ///< probabilities of 7

 private:
  std::string scores(float probability) {
    json head{{"model_name", "m"}, {"model_version", "1"}, {"parameters", {{"weights", "abc"}}}};
    const auto add = [&](const char* name, const char* type, std::size_t bytes) {
      head["outputs"].push_back({{"name", name},
                                 {"datatype", type},
                                 {"shape", {2}},
                                 {"parameters", {{"binary_data_size", bytes}}}});
    };
    add("pixel_tag", "UINT8", 2);
    add("pixel_cosmic", "FP32", 8);
    add("pixel_neutrino", "FP32", 8);
    const std::string text = head.dump();
    json_bytes_ = text.size();
    std::string bytes("\1\2", 2);
    for (int i = 0; i < 4; ++i) {
      char number[sizeof(float)];
      std::memcpy(number, &probability, sizeof(float));
      bytes.append(number, sizeof(float));
    }
    return text + bytes;
  }

  const std::vector<int> first_;
  std::atomic<int> asked_ = 0;
  std::size_t json_bytes_ = 0;
  http::HttpServer server_{{}, *this};
};

data::SparseImage two_pixels() {
  data::SparseImage image;
  image[0].ids = {3};
  image[0].values = {1.0F};
  image[2].ids = {5};
  image[2].values = {2.0F};
  return image;
}

ClientOptions asking(std::vector<std::string> servers) {
  ClientOptions options;
  options.servers = std::move(servers);
  options.first_pause = milliseconds(1);
  options.longest_pause = milliseconds(20);
  return options;
}

/// Nobody listens there: a server had it and is gone.
std::string nobody() {
  ScriptedServer gone;
  const std::string url = gone.url();
  gone.stop();
  return url;
}

TEST(TaggingClient, says_who_computed_and_keeps_its_connection) {
  ScriptedServer server;
  TaggingClient client(asking({server.url()}));
  for (int i = 0; i < 5; ++i) {
    const RemoteTags tags = client.tag(two_pixels());
    EXPECT_EQ(tags.computed_by, server.url() + " m version 1 (weights abc)");
    EXPECT_THAT(tags.tag[0].values, ElementsAre(1.0F));
    EXPECT_THAT(tags.tag[2].values, ElementsAre(2.0F));
    EXPECT_THAT(tags.cosmic[2].values, ElementsAre(0.25F));
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(TaggingClient, takes_the_first_server_of_its_list_that_answers_and_stays_there) {
  ScriptedServer busy({503, 503, 503});
  ScriptedServer fine;
  std::vector<std::string> heard;
  ClientOptions options = asking({nobody(), busy.url(), fine.url()});
  options.tell = [&](const std::string& text) { heard.push_back(text); };
  TaggingClient client(std::move(options));
  EXPECT_THAT(client.tag(two_pixels()).computed_by, HasSubstr(fine.url()));
  EXPECT_EQ(heard.size(), 2U);
  EXPECT_THAT(heard[1], HasSubstr("503"));
  client.tag(two_pixels());
  EXPECT_EQ(busy.asked(), 1);
  EXPECT_EQ(fine.asked(), 2);
}

TEST(TaggingClient, asks_again_after_what_may_pass_and_gives_up_after_its_attempts) {
  ScriptedServer server({503, 500, 504, 429});
  TaggingClient patient(asking({server.url()}));
  EXPECT_THAT(patient.tag(two_pixels()).cosmic[0].values, ElementsAre(0.25F));
  EXPECT_EQ(server.asked(), 5);
  ScriptedServer always(std::vector<int>(100, 503));
  TaggingClient client(asking({always.url()}));
  EXPECT_THROW(client.tag(two_pixels()), Unreachable);
  EXPECT_EQ(always.asked(), ClientOptions{}.attempts);
}

TEST(TaggingClient, does_not_ask_again_what_was_refused_for_good) {
  for (const int status : {400, 401, 404, 413}) {
    ScriptedServer server({status, status});
    TaggingClient client(asking({server.url()}));
    try {
      client.tag(two_pixels());
      ADD_FAILURE() << "not refused";
    } catch (const Refused& refused) {
      EXPECT_EQ(refused.status(), status);
      EXPECT_THAT(refused.what(), HasSubstr("not now"));
    }
    EXPECT_EQ(server.asked(), 1);
  }
}

TEST(TaggingClient, does_not_wait_longer_than_its_timeout) {
  ScriptedServer silent(std::vector<int>(10, ScriptedServer::kSilence));
  ClientOptions options = asking({silent.url()});
  options.timeout = milliseconds(100);
  options.attempts = 2;
  TaggingClient client(std::move(options));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(client.tag(two_pixels()), Unreachable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(silent.asked(), 2);
}

TEST(TaggingClient, never_uses_scores_that_are_no_probabilities) {
  ScriptedServer server({ScriptedServer::kNonsense});
  std::string heard;
  ClientOptions options = asking({server.url()});
  options.tell = [&](const std::string& text) { heard = text; };
  TaggingClient client(std::move(options));
  EXPECT_THAT(client.tag(two_pixels()).cosmic[0].values, ElementsAre(0.25F));
  EXPECT_THAT(heard, HasSubstr("a probability that is none"));
}

TEST(TaggingClient, pauses_longer_each_time_it_asks_again) {
  ScriptedServer server(std::vector<int>(100, 503));
  std::vector<std::chrono::steady_clock::time_point> times;
  ClientOptions options = asking({server.url()});
  options.first_pause = milliseconds(20);
  options.longest_pause = milliseconds(80);
  options.attempts = 5;
  options.tell = [&](const std::string&) { times.push_back(std::chrono::steady_clock::now()); };
  TaggingClient client(std::move(options));
  EXPECT_THROW(client.tag(two_pixels()), Unreachable);
  ASSERT_EQ(times.size(), 5U);
  // Half of it is certain, the other half is jitter; a busy machine may make them longer.
  EXPECT_GE(times[1] - times[0], milliseconds(10));
  EXPECT_GE(times[2] - times[1], milliseconds(20));
  EXPECT_GE(times[3] - times[2], milliseconds(40));
  EXPECT_GE(times[4] - times[3], milliseconds(40));
}

TEST(TaggingClient, refuses_what_is_no_server) {
  for (const char* const text :
       {"", "localhost:8000", "ftp://localhost", "http://localhost/path"}) {
    EXPECT_THROW(TaggingClient(asking({text})), std::invalid_argument) << text;
  }
  EXPECT_THROW(TaggingClient(asking({})), std::invalid_argument);
}

}  // namespace
}  // namespace cosmic::serve::client
