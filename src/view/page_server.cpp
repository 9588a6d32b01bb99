#include "view/page_server.hpp"

#include <httplib.h>

#include <array>
#include <string_view>
#include <thread>

#include "core/error.hpp"
#include "report/page/display_link.hpp"

namespace cosmic::view {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr int kFirstPort = report::page::kDisplayPort;
constexpr int kPortsTried = 20;
// A browser keeps six connections open, and each takes a thread while it is.
constexpr std::size_t kThreads = 16;
constexpr std::size_t kLargestBody = 1024;  // a GET has none
constexpr std::size_t kKeptRequests = 1000;
constexpr int kIdleSeconds = 2;

/// Does the request name this machine, with whatever port? A tunnel may give it another.
bool names_this_machine(const std::string& host) {
  static constexpr std::array<std::string_view, 3> kNames{"127.0.0.1", "localhost", "[::1]"};
  for (const std::string_view name : kNames) {
    if (host == name ||
        (host.starts_with(name) && host[name.size()] == ':' &&
         host.find_first_not_of("0123456789", name.size() + 1) == std::string::npos)) {
      return true;
    }
  }
  return false;
}

void refuse(httplib::Response& response, int status, const std::string& reason) {
  response.status = status;
  response.set_content(reason, "text/plain; charset=utf-8");
}

/// Pages and scripts come from here alone, and nobody puts the page into a frame.
const httplib::Headers kHeaders{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
     "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"}};

}  // namespace

struct PageServer::State {
  httplib::Server server;
  int port = 0;
  std::thread thread;

  /// Two servers must not share a port, which the library's own options allow.
  static void set_options(int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  }

  void bind(std::optional<int> wanted) {
    if (wanted == 0) {
      port = server.bind_to_any_port(kLoopback);
      COSMIC_REQUIRE(
          UserError, port > 0,
          "no port of " << kLoopback << " is free (the page cannot be served); end other programs");
      return;
    }
    const int first = wanted.value_or(kFirstPort);
    const int last = wanted ? first : kFirstPort + kPortsTried - 1;
    for (port = first; port <= last; ++port) {
      if (server.bind_to_port(kLoopback, port)) {
        return;
      }
    }
    COSMIC_REQUIRE(UserError, false,
                   "port " << first << (wanted ? "" : " to " + std::to_string(last)) << " of "
                           << kLoopback
                           << " is taken (another program listens there, or it is not yours to "
                              "use); choose another with --port, 0 for any that is free");
  }
};

PageServer::PageServer(std::function<Answer(const Request&)> answer, std::optional<int> port)
    : state_(std::make_unique<State>()) {
  httplib::Server& server = state_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_socket_options(State::set_options);
  server.set_payload_max_length(kLargestBody);
  server.set_keep_alive_max_count(kKeptRequests);
  server.set_keep_alive_timeout(kIdleSeconds);
  server.set_tcp_nodelay(true);
  server.set_default_headers(kHeaders);
  server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!names_this_machine(request.get_header_value("Host"))) {
      refuse(response, 403, "this page is for browsers of its own machine: use 127.0.0.1");
      return httplib::Server::HandlerResponse::Handled;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405, "nothing can be changed here");
      return httplib::Server::HandlerResponse::Handled;
    }
    return httplib::Server::HandlerResponse::Unhandled;
  });
  server.Get(".*", [answer = std::move(answer)](const httplib::Request& request,
                                                httplib::Response& response) {
    const Answer given = answer({request.path, {request.params.begin(), request.params.end()}});
    response.status = given.status;
    response.set_content(given.body, given.type);
  });
  state_->bind(port);
  state_->thread = std::thread([this] { state_->server.listen_after_bind(); });
  while (!server.is_running()) {  // stop() before that would be lost
    std::this_thread::yield();
  }
}

PageServer::~PageServer() {
  state_->server.stop();
  state_->thread.join();
}

int PageServer::port() const {
  return state_->port;
}

std::string PageServer::address() const {
  return "http://" + std::string(kLoopback) + ":" + std::to_string(state_->port) + "/";
}

}  // namespace cosmic::view
