// The bytes of one connection, plain or over TLS, with deadlines and limits: the library asks for
// one byte at a time and would go on for ever.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstddef>

#include "serve/http/http_server.hpp"

namespace cosmic::serve::http {

class ConnectionStream final : public httplib::Stream {
 public:
  /// `tls` is null for a plain one. `wake` becomes readable when the server ends.
  ConnectionStream(int socket, SSL* tls, const ServerOptions& options, int wake);

  /// Of a TLS connection, first of all.
  bool shake_hands();
  /// False if none came in time, the client has gone or the server ends.
  bool wait_for_request();
  /// Starts counting for the next request.
  void begin_request();
  /// So many bytes of the body were content.
  void count_content(std::size_t bytes) { content_ += bytes; }
  /// Is the client still there? Asked while it waits for its answer.
  bool peer_has_gone() const;

  enum class Trouble { none, head_too_large, too_slow, too_much_overhead, closed };
  Trouble trouble() const { return trouble_; }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  /// Not the real one: the library refuses those from 1024 on, which it could not wait for.
  socket_t socket() const override { return 0; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Waits for poll's events; false at the deadline.
  bool wait_for(short events, Clock::time_point deadline) const;
  ssize_t receive();
  void follow_head(char byte);

  int socket_;
  SSL* tls_;
  const ServerOptions& options_;
  int wake_;
  std::array<char, 16 << 10> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool in_head_ = true;
  int end_of_head_ = 0;  ///< bytes of "\r\n\r\n" that were seen
  std::size_t head_ = 0;
  std::size_t body_ = 0;
  std::size_t content_ = 0;
  Clock::time_point read_deadline_;
  std::optional<Clock::time_point> write_deadline_;  ///< of the answer, once it has begun
  Trouble trouble_ = Trouble::none;
};

}  // namespace cosmic::serve::http
