// A port that speaks HTTP/1.1, with or without TLS. The library that reads requests leaves some
// limits to whoever uses it; here they are: on the size of a head and a body, on the time that
// either may take, on idle time, and on the number of connections. A connection whose request was
// not read to its end is closed, so that the rest is never taken for another request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "serve/http/message.hpp"

namespace cosmic::serve::http {

struct Tls {
  std::filesystem::path certificate;  ///< PEM, with its chain
  std::filesystem::path key;
};

/// Throws UserError, which says what is wrong with which file.
void require_usable(const Tls& tls);

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  ///< 0 for any that is free
  std::int64_t connections = 1536;
  std::size_t head_bytes = 16 << 10;
  std::size_t body_bytes = 64 << 20;
  std::size_t bodies_bytes = 1 << 30;    ///< of all connections together
  std::size_t overhead_bytes = 8 << 20;  ///< of a body in chunks, beside its content
  int head_seconds = 10;
  int body_seconds = 60;
  int answer_seconds = 60;
  int idle_seconds = 120;  ///< between two requests
  std::optional<Tls> tls = {};
};

class HttpServer {
 public:
  /// Listens. Throws UserError if it cannot.
  HttpServer(const ServerOptions& options, Routes& routes);
  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  /// False after stop(), and after an error of the system (no memory, too many files of all
  /// processes) at which the library takes no more connections.
  bool listening() const;
  /// Takes no more connections, closes idle ones, and returns when the others have their answers.
  void stop();

  std::int64_t connections() const;
  std::uint64_t connections_refused() const;
  std::size_t body_bytes() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::serve::http
