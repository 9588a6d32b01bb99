// A web server on this machine, for tests of what asks one.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>
#include <thread>

namespace cosmic {

/// Listens while it lives.
class WebServer {
 public:
  /// `prepare` says what it answers.
  explicit WebServer(const std::function<void(httplib::Server&)>& prepare) {
    prepare(server_);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) {  // stop() before that would be lost
      std::this_thread::yield();
    }
  }
  ~WebServer() {
    server_.stop();
    thread_.join();
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  /// "http://127.0.0.1:1234" and the path.
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace cosmic
