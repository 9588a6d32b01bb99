#include "view/page_server.hpp"

#include <gmock/gmock.h>
#include <httplib.h>

#include <atomic>
#include <thread>

#include "core/error.hpp"

namespace cosmic::view {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Answer echo(const Request& request) {
  if (request.path == "/gone") {
    return {404, "text/plain", "nothing"};
  }
  const auto word = request.query.find("word");
  return {200, "text/plain",
          request.path + (word == request.query.end() ? "" : " " + word->second)};
}

TEST(PageServer, answers_browsers_of_this_machine) {
  const PageServer server(echo, 0);
  httplib::Client client("127.0.0.1", server.port());
  const auto answer = client.Get("/a?word=b%20c");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "/a b c");
  EXPECT_EQ(client.Get("/gone")->status, 404);
  EXPECT_EQ(client.Head("/a")->status, 200);
  for (const char* const host : {"localhost", "localhost:9000", "127.0.0.1:1", "[::1]:80"}) {
    EXPECT_EQ(client.Get("/a", {{"Host", host}})->status, 200) << host;
  }
}

TEST(PageServer, refuses_requests_that_name_another_machine) {
  const PageServer server(echo, 0);
  httplib::Client client("127.0.0.1", server.port());
  for (const char* const host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8420",
        "localhost:80@evil", "", "LOCALHOST.", "0.0.0.0"}) {
    const auto answer = client.Get("/a", {{"Host", host}});
    ASSERT_TRUE(answer) << host;
    EXPECT_EQ(answer->status, 403) << host;
  }
}

TEST(PageServer, changes_nothing_whatever_the_method) {
  std::atomic<int> answered{0};
  const PageServer server(
      [&](const Request&) {
        ++answered;
        return Answer{200, "text/plain", ""};
      },
      0);
  httplib::Client client("127.0.0.1", server.port());
  EXPECT_EQ(client.Post("/a", "x", "text/plain")->status, 405);
  EXPECT_EQ(client.Put("/a", "x", "text/plain")->status, 405);
  EXPECT_EQ(client.Delete("/a")->status, 405);
  EXPECT_EQ(client.Options("/a")->status, 405);
  EXPECT_EQ(answered, 0);
}

TEST(PageServer, lets_the_page_load_from_nowhere_else) {
  const PageServer server(echo, 0);
  httplib::Client client("127.0.0.1", server.port());
  const auto answer = client.Get("/a");
  EXPECT_THAT(answer->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_FALSE(answer->has_header("Access-Control-Allow-Origin"));
}

TEST(PageServer, listens_on_loopback_alone) {
  const PageServer server(echo, 0);
  // 127.0.0.2 is loopback, too, and would be reached by a server of all addresses.
  httplib::Client client("127.0.0.2", server.port());
  client.set_connection_timeout(2);
  EXPECT_FALSE(client.Get("/a"));
}

TEST(PageServer, says_that_a_port_is_taken) {
  const PageServer server(echo, 0);
  EXPECT_THAT([&] { PageServer(echo, server.port()); },
              ThrowsMessage<UserError>(HasSubstr("is taken")));
}

TEST(PageServer, finds_a_port_beside_one_that_is_taken) {
  const PageServer first(echo, std::nullopt);
  const PageServer second(echo, std::nullopt);
  EXPECT_NE(first.port(), second.port());
}

TEST(PageServer, answers_many_at_once) {
  const PageServer server(echo, 0);
  std::atomic<int> right{0};
  std::vector<std::thread> browsers;
  for (int i = 0; i < 8; ++i) {
    browsers.emplace_back([&, i] {
      httplib::Client client("127.0.0.1", server.port());
      client.set_keep_alive(true);
      for (int j = 0; j < 20; ++j) {
        const std::string path = "/" + std::to_string(i) + "-" + std::to_string(j);
        const auto answer = client.Get(path);
        right += answer && answer->body == path ? 1 : 0;
      }
    });
  }
  for (std::thread& browser : browsers) {
    browser.join();
  }
  EXPECT_EQ(right, 8 * 20);
}

}  // namespace
}  // namespace cosmic::view
