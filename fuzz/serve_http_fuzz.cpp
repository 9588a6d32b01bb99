// Sends any bytes to the HTTP front end, over a real connection, and ends its side of it: to the
// port for everybody or, if the first byte is odd, to the one for management. What comes back, if
// anything, is an answer of HTTP; it is never "500", says nothing about the inside, and the
// connection is closed in the end.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "serve/http/http_server.hpp"
#include "serve/http/inference_routes.hpp"
#include "served_echo.hpp"

namespace cosmic::serve::http {
namespace {

class FrontEnd {
 public:
  void send(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
      return;
    }
    const int connection = connected((data[0] & 1) != 0 ? management_.port() : http_.port());
    std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    while (!bytes.empty()) {
      const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        break;  // it has read enough of it
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    shutdown(connection, SHUT_WR);
    check(all_of(connection), {reinterpret_cast<const char*>(data), size});
    close(connection);
  }

 private:
  static ServerOptions options() {
    ServerOptions options;
    options.body_bytes = 1 << 20;
    options.bodies_bytes = 8 << 20;
    options.overhead_bytes = 1 << 16;
    return options;
  }

  /// From another address of loopback each time: closed connections keep theirs for a minute.
  int connected(int port) {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(0x7f000001U + next_++ % 0xffff00U);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(connection, reinterpret_cast<sockaddr*>(&from), sizeof(from)) != 0 ||
        connect(connection, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) {
      found(std::string("no connection: ") + std::strerror(errno));
    }
    return connection;
  }

  static std::string all_of(int connection) {
    constexpr int kPatienceMs = 60'000;  // a machine that has other work to do is no finding
    std::string all;
    std::array<char, 16 << 10> buffer;
    while (true) {
      pollfd waiting{connection, POLLIN, 0};
      const int ready = poll(&waiting, 1, kPatienceMs);
      if (ready < 0 && errno == EINTR) {
        continue;  // libFuzzer looks at the time every half minute, by a signal
      }
      if (ready <= 0) {
        found("the connection is still open, and nothing comes");
      }
      const ssize_t got = recv(connection, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        return all;
      }
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  static void check(const std::string& answer, std::string_view sent) {
    if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) {
      found("this is no answer: " + answer);
    }
    if (answer.starts_with("HTTP/1.1 500")) {
      found("the server could not answer: " + answer);
    }
    require_no_inside(answer, sent);
  }

  ServedEcho served_;
  InferenceRoutes routes_{served_.service()};
  ManagementRoutes management_routes_{served_.service(), ModelControl::explicit_requests,
                                      [] { return ServerGauges{}; }};
  HttpServer http_{options(), routes_};
  HttpServer management_{options(), management_routes_};
  std::uint32_t next_ = 0;
};

}  // namespace
}  // namespace cosmic::serve::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static cosmic::serve::http::FrontEnd front_end;
  front_end.send(data, size);
  return 0;
}
