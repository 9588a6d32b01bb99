// The server behind a real socket: limits, hostile bytes, slow and vanished clients, an end that
// loses nothing. Bytes are written by hand where no client would send them.
#include "serve/http/http_server.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <libdeflate.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "core/error.hpp"

namespace cosmic::serve::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Answers with the length of the body; "/wait" when a test says so.
class EchoRoutes final : public Routes {
 public:
  std::optional<Answer> refuse(const Head& head) const override {
    if (head.path == "/secret") {
      return Answer{.status = 401, .type = "text/plain", .body = "no"};
    }
    return std::nullopt;
  }
  Answer answer(const Head& head, std::string_view body,
                const std::function<bool()>& cancelled) override {
    ++asked;
    if (head.path == "/wait") {
      std::unique_lock lock(mutex);
      ++waiting;
      changed.notify_all();
      while (!released && !cancelled()) {
        changed.wait_for(lock, std::chrono::milliseconds(10));
      }
      gone += released ? 0 : 1;
    }
    if (head.path == "/throw") {
      throw std::runtime_error("secret inside");
    }
    if (head.path == "/large") {
      return Answer{.type = "text/plain", .body = std::string(64 << 20, 'x')};
    }
    return Answer{.type = "text/plain", .body = "body of " + std::to_string(body.size())};
  }
  Answer broken(int status) const override {
    return Answer{.status = status, .type = "text/plain", .body = "broken"};
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  int waiting = 0;
  std::atomic<int> gone = 0;
  std::atomic<int> asked = 0;
};

class Bytes {
 public:
  explicit Bytes(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Bytes() { close(socket_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// As much as the server takes.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Until the text came, or the server closed, or nothing came for a while.
  std::string read(const std::string& until = "", int patience_ms = 3000) const {
    std::string all;
    std::array<char, 65536> buffer;
    while (until.empty() || all.find(until) == std::string::npos) {
      pollfd waiting{socket_, POLLIN, 0};
      if (poll(&waiting, 1, patience_ms) <= 0) {
        return all + "[nothing]";
      }
      const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        return all + "[closed]";
      }
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  int socket_;
};

class Served : public testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions small;
    small.head_bytes = 4096;
    small.body_bytes = 1 << 20;
    small.bodies_bytes = 3 << 20;
    small.overhead_bytes = 1 << 20;
    small.head_seconds = 1;
    small.body_seconds = 1;
    small.answer_seconds = 1;
    return small;
  }
  HttpServer& start(const ServerOptions& with = options()) {
    server_.emplace(with, routes_);
    return *server_;
  }
  std::string ask(const std::string& request) {
    const Bytes connection(server_->port());
    connection.send(request);
    return connection.read();
  }
  std::string status_of(const std::string& request) {
    const std::string answer = ask(request);
    return answer.substr(0, answer.find('\r'));
  }
  void expect_it_goes_on() {
    EXPECT_THAT(ask("POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc"),
                HasSubstr("body of 3"));
  }
  EchoRoutes routes_;

 private:
  std::optional<HttpServer> server_;
};

TEST_F(Served, keeps_a_connection_for_several_requests) {
  const Bytes connection(start().port());
  for (int i = 0; i < 20; ++i) {
    connection.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    EXPECT_THAT(connection.read("body of 5"), HasSubstr("200 OK"));
  }
}

TEST_F(Served, answers_requests_that_came_in_one_piece_in_their_order) {
  const Bytes connection(start().port());
  connection.send(
      "POST /x HTTP/1.1\r\nContent-Length: 1\r\n\r\na"
      "POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\nab");
  const std::string answers = connection.read("body of 2");
  EXPECT_LT(answers.find("body of 1"), answers.find("body of 2"));
}

TEST_F(Served, refuses_before_reading_what_claims_to_be_too_large) {
  start();
  EXPECT_THAT(status_of("POST /x HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"), HasSubstr("413"));
  EXPECT_THAT(
      status_of("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"),
      HasSubstr("413"));
  EXPECT_EQ(routes_.asked, 0);
  expect_it_goes_on();
}

TEST_F(Served, refuses_lengths_that_two_readers_could_read_differently) {
  start();
  for (const char* const head :
       {"Content-Length: -1", "Content-Length: 0x10", "Content-Length: +3",
        "Content-Length: ", "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: 3\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: gzip", "Content-Length: 18446744073709551617"}) {
    EXPECT_THAT(status_of("POST /x HTTP/1.1\r\n" + std::string(head) + "\r\n\r\nabc"),
                testing::ContainsRegex("4(00|11|13)"))
        << head;
  }
  EXPECT_THAT(status_of("POST /x HTTP/1.1\r\n\r\n"), HasSubstr("411"));
  EXPECT_EQ(routes_.asked, 0);
  expect_it_goes_on();
}

TEST_F(Served, never_takes_the_rest_of_a_refused_body_for_a_request) {
  start();
  const std::string answer =
      ask("POST /secret HTTP/1.1\r\nContent-Length: 60\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("401"));
  EXPECT_THAT(answer, HasSubstr("[closed]"));
  EXPECT_EQ(routes_.asked, 0);
}

TEST_F(Served, reads_a_body_of_half_a_million_tiny_chunks) {
  ServerOptions large = options();
  large.body_seconds = 60;
  large.overhead_bytes = 8 << 20;
  start(large);
  std::string body = "POST /x HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 500'000; ++i) {  // 3 MB, as in CVE-2025-23310
    body += "1\r\na\r\n";
  }
  EXPECT_THAT(ask(body + "0\r\n\r\n"), HasSubstr("body of 500000"));
  expect_it_goes_on();
}

TEST_F(Served, refuses_chunks_that_are_more_frame_than_content) {
  start();
  std::string body = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;";
  body += std::string(4 << 20, 'e');
  EXPECT_THAT(status_of(body), testing::ContainsRegex("4(00|13)"));
  expect_it_goes_on();
}

TEST_F(Served, refuses_chunks_beyond_the_limit_of_a_body) {
  start();
  std::string body = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 40; ++i) {
    body += "10000\r\n" + std::string(65536, 'b') + "\r\n";
  }
  EXPECT_THAT(status_of(body), HasSubstr("413"));
  expect_it_goes_on();
}

std::string gzipped(const std::string& content) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(9), libdeflate_free_compressor);
  std::string packed(libdeflate_gzip_compress_bound(compressor.get(), content.size()), '\0');
  packed.resize(libdeflate_gzip_compress(compressor.get(), content.data(), content.size(),
                                         packed.data(), packed.size()));
  return packed;
}

TEST_F(Served, unpacks_bodies_no_further_than_the_limit) {
  start();
  const auto post = [&](const std::string& packed) {
    return ask(
        "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Encoding: gzip\r\n"
        "Content-Length: " +
        std::to_string(packed.size()) + "\r\n\r\n" + packed);
  };
  EXPECT_THAT(post(gzipped(std::string(300'000, 'a'))), HasSubstr("body of 300000"));
  const std::string bomb = gzipped(std::string(64 << 20, '\0'));
  EXPECT_LT(bomb.size(), options().body_bytes);
  EXPECT_THAT(post(bomb), HasSubstr("413"));
  EXPECT_THAT(post("no gzip at all"), HasSubstr("400"));
  EXPECT_THAT(post(gzipped("cut off").substr(0, 12)), Not(HasSubstr("body of 7")));
  expect_it_goes_on();
}

TEST_F(Served, refuses_chunks_of_impossible_sizes) {
  start();
  for (const char* const chunk : {"ffffffffffffffff\r\n", "-1\r\nabc\r\n", "zz\r\n", "\r\n"}) {
    EXPECT_THAT(ask("POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunk)),
                testing::ContainsRegex("HTTP/1.1 4|closed"))
        << chunk;
  }
  expect_it_goes_on();
}

TEST_F(Served, refuses_a_head_that_has_no_end) {
  start();
  EXPECT_THAT(status_of("GET /x HTTP/1.1\r\n" + std::string("A: b\r\n") +
                        "C: " + std::string(100'000, 'd') + "\r\n\r\n"),
              HasSubstr("431"));
  std::string many = "GET /x HTTP/1.1\r\n";
  for (int i = 0; i < 10'000; ++i) {
    many += "H" + std::to_string(i) + ": x\r\n";
  }
  EXPECT_THAT(status_of(many + "\r\n"), HasSubstr("431"));
  EXPECT_THAT(ask("GET /" + std::string(100'000, 'u') + " HTTP/1.1\r\n\r\n"),
              testing::ContainsRegex("HTTP/1.1 4|closed"));
  expect_it_goes_on();
}

TEST_F(Served, refuses_what_is_no_http_and_methods_that_it_does_not_have) {
  start();
  for (const char* const bytes : {"hello\r\n\r\n", "\x16\x03\x01\x02", "GET\r\n\r\n",
                                  "GET /x HTTP/9.9\r\n\r\n", "\r\n\r\n"}) {
    EXPECT_THAT(ask(bytes), testing::ContainsRegex("HTTP/1.1 4|closed")) << bytes;
  }
  EXPECT_THAT(status_of("DELETE /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), HasSubstr("405"));
  EXPECT_THAT(status_of("PUT /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), HasSubstr("405"));
  expect_it_goes_on();
}

TEST_F(Served, closes_on_who_sends_too_slowly) {
  start();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(ask("GET /x HTTP/1.1\r\nA:"), testing::ContainsRegex("408|closed"));
  EXPECT_THAT(ask("POST /x HTTP/1.1\r\nContent-Length: 10\r\n\r\nab"), HasSubstr("408"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  expect_it_goes_on();
}

TEST_F(Served, gives_up_on_who_does_not_read_the_answer) {
  HttpServer& server = start();
  const Bytes connection(server.port());
  connection.send("GET /large HTTP/1.1\r\n\r\n");
  // It is closed when its time is over: nobody reads until then.
  while (server.connections() == 0) {
    std::this_thread::yield();
  }
  const auto begin = std::chrono::steady_clock::now();
  while (server.connections() > 0 &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(server.connections(), 0);
  expect_it_goes_on();
}

TEST_F(Served, notices_that_a_client_has_gone_while_it_waits) {
  start();
  {
    const Bytes connection(start().port());
    connection.send("GET /wait HTTP/1.1\r\n\r\n");
    std::unique_lock lock(routes_.mutex);
    routes_.changed.wait(lock, [&] { return routes_.waiting == 1; });
  }
  const auto begin = std::chrono::steady_clock::now();
  while (routes_.gone == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(5)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(routes_.gone, 1);
}

TEST_F(Served, closes_connections_on_which_nothing_comes) {
  ServerOptions impatient = options();
  impatient.idle_seconds = 1;
  const HttpServer& server = start(impatient);
  const Bytes silent(server.port());
  const Bytes between_two_requests(server.port());
  between_two_requests.send("POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_THAT(between_two_requests.read("body of 3"), HasSubstr("body of 3"));
  EXPECT_EQ(silent.read(), "[closed]");
  EXPECT_EQ(between_two_requests.read(), "[closed]");
  expect_it_goes_on();
}

TEST_F(Served, refuses_connections_beyond_the_limit_at_once) {
  ServerOptions few = options();
  few.connections = 2;
  HttpServer& server = start(few);
  const Bytes first(server.port());
  first.send("POST /x HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  first.read("body of 1");
  const Bytes second(server.port());
  second.send("POST /x HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  second.read("body of 1");
  EXPECT_THAT(ask(""), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(server.connections_refused(), 1U);
}

TEST_F(Served, holds_no_more_bodies_than_it_has_memory_for) {
  HttpServer& server = start();
  const std::string large(1 << 20, 'a');
  std::vector<std::unique_ptr<Bytes>> connections;
  for (int i = 0; i < 3; ++i) {  // they hold the budget of 3 MB
    connections.push_back(std::make_unique<Bytes>(server.port()));
    connections.back()->send("POST /wait HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n" + large);
  }
  {
    std::unique_lock lock(routes_.mutex);
    routes_.changed.wait(lock, [&] { return routes_.waiting == 3; });
  }
  EXPECT_EQ(server.body_bytes(), 3U << 20);
  EXPECT_THAT(status_of("POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"), HasSubstr("503"));
  {
    const std::lock_guard lock(routes_.mutex);
    routes_.released = true;
  }
  for (const auto& connection : connections) {
    EXPECT_THAT(connection->read("body of 1048576"), HasSubstr("200 OK"));
  }
  expect_it_goes_on();
}

TEST_F(Served, tells_nothing_of_the_inside_when_a_handler_throws) {
  start();
  const std::string answer = ask("GET /throw HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("500"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("secret inside")));
}

TEST_F(Served, ends_when_accepted_requests_are_answered_and_closes_idle_connections) {
  HttpServer& server = start();
  const Bytes idle(server.port());
  idle.send("POST /x HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  idle.read("body of 1");
  const Bytes busy(server.port());
  busy.send("GET /wait HTTP/1.1\r\n\r\n");
  {
    std::unique_lock lock(routes_.mutex);
    routes_.changed.wait(lock, [&] { return routes_.waiting == 1; });
  }
  std::thread ending([&] { server.stop(); });
  EXPECT_THAT(idle.read(), HasSubstr("[closed]"));
  {
    const std::lock_guard lock(routes_.mutex);
    routes_.released = true;
  }
  EXPECT_THAT(busy.read("body of 0"), HasSubstr("200 OK"));
  ending.join();
}

TEST_F(Served, serves_256_active_among_1000_idle_connections) {
  ServerOptions many;
  HttpServer& server = start(many);
  std::vector<std::unique_ptr<Bytes>> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(std::make_unique<Bytes>(server.port()));
  }
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 256; ++i) {
    clients.emplace_back([&] {
      const Bytes connection(server.port());
      for (int request = 0; request < 4; ++request) {
        connection.send("POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello");
        right += connection.read("body of 5", 20'000).find("200 OK") != std::string::npos;
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(right, 1024);
  EXPECT_EQ(server.connections_refused(), 0U);
}

TEST_F(Served, knows_whether_it_listens) {
  HttpServer& server = start();
  EXPECT_TRUE(server.listening());
  server.stop();
  EXPECT_FALSE(server.listening());
}

TEST_F(Served, refuses_a_port_that_another_server_has) {
  ServerOptions same = options();
  same.port = start().port();
  EXPECT_THROW(HttpServer(same, routes_), UserError);
}

TEST_F(Served, refuses_a_certificate_that_cannot_be_used) {
  ServerOptions secure = options();
  secure.tls = Tls{"/nowhere.pem", "/nowhere.key"};
  EXPECT_THROW(HttpServer(secure, routes_), UserError);
}

}  // namespace
}  // namespace cosmic::serve::http
