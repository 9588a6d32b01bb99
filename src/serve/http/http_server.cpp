#include "serve/http/http_server.hpp"

#include <fcntl.h>
#include <httplib.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "core/regular_file.hpp"
#include "serve/http/connection_stream.hpp"
#include "serve/http/connection_threads.hpp"

namespace cosmic::serve::http {
namespace {

/// Memory that all bodies share.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t all) : all_(all) {}

  bool take(std::size_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= all_) {
      return true;
    }
    used_.fetch_sub(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes); }
  std::size_t used() const { return used_; }

 private:
  std::size_t all_;
  std::atomic<std::size_t> used_ = 0;
};

/// What a request holds of it, until its answer is made.
class HeldBytes {
 public:
  explicit HeldBytes(SharedBytes& shared) : shared_(shared) {}
  ~HeldBytes() { shared_.give_back(held_); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  bool take(std::size_t bytes) {
    const bool taken = shared_.take(bytes);
    held_ += taken ? bytes : 0;
    return taken;
  }

 private:
  SharedBytes& shared_;
  std::size_t held_ = 0;
};

struct FreeTls {
  void operator()(SSL* tls) const { SSL_free(tls); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using TlsConnection = std::unique_ptr<SSL, FreeTls>;

void require_readable(const std::filesystem::path& file) {
  COSMIC_REQUIRE(UserError, std::ifstream(regular_file(file)).is_open(),
                 file.string() << ": cannot be opened (" << std::strerror(errno)
                               << "; without it connections could not be encrypted); give a PEM "
                                  "file that you may read");
}

TlsContext tls_context(const std::optional<Tls>& tls) {
  if (!tls) {
    return nullptr;
  }
  require_readable(tls->certificate);
  require_readable(tls->key);
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  COSMIC_REQUIRE(TargetError, context != nullptr,
                 "OpenSSL makes no TLS context (connections could not be encrypted); check its "
                 "installation");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_AUTO_RETRY |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // For the pass phrase of a key the library would ask a terminal, and a server has none.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return -1; });
  COSMIC_REQUIRE(UserError,
                 SSL_CTX_use_certificate_chain_file(context.get(), tls->certificate.c_str()) == 1,
                 tls->certificate.string()
                     << ": has no certificate that can be used (connections could not "
                        "be encrypted); give a PEM file, the server's certificate first");
  // It also looks whether the key is that of the certificate.
  const bool taken =
      SSL_CTX_use_PrivateKey_file(context.get(), tls->key.c_str(), SSL_FILETYPE_PEM) == 1;
  const bool of_another = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
  ERR_clear_error();
  COSMIC_REQUIRE(UserError, taken || !of_another,
                 tls->key.string()
                     << ": is not the key of the certificate in " << tls->certificate.string()
                     << " (nobody could connect); give the two that belong together");
  COSMIC_REQUIRE(UserError, taken,
                 tls->key.string() << ": has no key that can be used (connections could not be "
                                      "encrypted); give a PEM file whose key has no pass phrase");
  return context;
}

/// Of the connection that this thread handles.
struct Handled {
  ConnectionStream* stream = nullptr;
  bool must_close = false;
};
thread_local Handled handled;
/// Set on the accepting thread while it handles a connection that is one too many.
thread_local bool one_too_many = false;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Head head_of(const httplib::Request& request) {
  Head head;
  head.method = request.method;
  head.path = request.path;
  for (const auto& [name, value] : request.headers) {
    head.headers.emplace(lower_case(name), value);
  }
  head.peer = request.remote_addr + ":" + std::to_string(request.remote_port);
  return head;
}

void put(const Answer& answer, httplib::Response& response) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) {
    response.set_header(name, value);
  }
  if (handled.must_close) {
    response.set_header("Connection", "close");
  }
  response.set_content(answer.body, answer.type);
}

/// 0 if the body can be read; otherwise the status that says why not.
int framing_trouble(const httplib::Request& request, std::size_t body_bytes) {
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  const std::size_t encodings = request.get_header_value_count("Transfer-Encoding");
  // Two ways to tell the end of a body, or two ends: a proxy might read another request than we do.
  if (lengths + encodings > 1) {
    return 400;
  }
  if (encodings == 1) {
    return lower_case(request.get_header_value("Transfer-Encoding")) == "chunked" ? 0 : 400;
  }
  if (lengths == 0) {
    return request.method == "POST" ? 411 : 0;
  }
  constexpr std::size_t kMostDigits = 18;
  const std::string length = request.get_header_value("Content-Length");
  const bool number = !length.empty() && length.size() <= kMostDigits &&
                      std::all_of(length.begin(), length.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!number) {
    return 400;
  }
  return std::stoull(length) > body_bytes ? 413 : 0;
}

}  // namespace

void require_usable(const Tls& tls) {
  tls_context(tls);
}

class HttpServer::Implementation : public httplib::Server {
 public:
  Implementation(const ServerOptions& options, Routes& routes)
      : options_(options),
        routes_(routes),
        tls_(tls_context(options.tls)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        bodies_(options.bodies_bytes) {
    // Not SO_REUSEPORT, with which two servers would share a port without knowing.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    set_tcp_nodelay(true);
    set_keep_alive_timeout(options_.idle_seconds);  // what answers say; the stream sees to it
    set_keep_alive_max_count(1'000'000);
    new_task_queue = [this] {
      return new ConnectionThreads(options_.connections,
                                   [this](const std::function<void()>& handle) {
                                     ++refused_;
                                     one_too_many = true;
                                     handle();
                                     one_too_many = false;
                                   });
    };
    add_handlers();
    port_ = options_.port == 0                              ? bind_to_any_port(options_.address)
            : bind_to_port(options_.address, options_.port) ? options_.port
                                                            : -1;
    COSMIC_REQUIRE(UserError, port_ > 0,
                   "cannot listen on " << options_.address << ":" << options_.port
                                       << " (another program may have the port, or the address is "
                                          "not one of this machine); choose another");
    constexpr int kBacklog = 1024;  // the library's is 5
    ::listen(svr_sock_, kBacklog);
    listener_ = std::thread([this] {
      listen_after_bind();
      ended_ = true;
    });
  }

  ~Implementation() override {
    end();
    close(wake_);
  }

  void end() {
    if (!listener_.joinable()) {
      return;
    }
    const std::uint64_t one = 1;
    // It cannot fail: the counter is far from full.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof(one));
    while (!is_running()) {
      std::this_thread::yield();  // stop() does nothing before it listens
    }
    Server::stop();
    listener_.join();
  }

  int port() const { return port_; }
  bool listening() const { return !ended_; }
  std::int64_t connections() const { return connections_; }
  std::uint64_t refused() const { return refused_; }
  std::size_t body_bytes() const { return bodies_.used(); }

 private:
  void add_handlers() {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return refuse_unread(request, response) ? HandlerResponse::Handled
                                              : HandlerResponse::Unhandled;
    });
    set_expect_100_continue_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return refuse_unread(request, response) ? response.status : 100;
        });
    Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      put(routes_.answer(head_of(request), "", cancelled()), response);
    });
    Post(".*", [this](const httplib::Request& request, httplib::Response& response,
                      const httplib::ContentReader& read) { post(request, response, read); });
    set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      // Answers of ours come by here too, and have a body.
      if (response.body.empty()) {
        handled.must_close = true;
        if (handled.stream->trouble() == ConnectionStream::Trouble::head_too_large) {
          response.status = 431;
        } else if (handled.stream->trouble() == ConnectionStream::Trouble::too_slow) {
          response.status = 408;
        }
        put_refusal(request, routes_.broken(response.status), response);
      }
    });
    set_exception_handler([this](const httplib::Request& request, httplib::Response& response,
                                 const std::exception_ptr&) {
      handled.must_close = true;
      put_refusal(request, routes_.broken(500), response);
    });
  }

  void put_refusal(const httplib::Request& request, const Answer& answer,
                   httplib::Response& response) {
    put(answer, response);
    routes_.note_refused(head_of(request), answer);
  }

  static std::function<bool()> cancelled() {
    return [stream = handled.stream] { return stream->peer_has_gone(); };
  }

  /// Before its body is read. What is refused here stays unread, so the connection ends.
  bool refuse_unread(const httplib::Request& request, httplib::Response& response) {
    int status = 0;
    if (request.method != "GET" && request.method != "HEAD" && request.method != "POST") {
      status = 405;
    } else {
      status = framing_trouble(request, options_.body_bytes);
    }
    std::optional<Answer> answer;
    if (status != 0) {
      answer = routes_.broken(status);
    } else {
      answer = routes_.refuse(head_of(request));
    }
    if (!answer) {
      return false;
    }
    handled.must_close = handled.must_close || status != 0 || request.method == "POST";
    put_refusal(request, *answer, response);
    return true;
  }

  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& read) {
    std::string body;
    HeldBytes held(bodies_);
    int status = 0;
    const bool whole = read([&](const char* bytes, std::size_t size) {
      handled.stream->count_content(size);
      if (size > options_.body_bytes - body.size()) {
        status = 413;
      } else if (!held.take(size)) {
        status = 503;
      }
      if (status == 0) {
        body.append(bytes, size);
      }
      return status == 0;
    });
    if (!whole) {
      handled.must_close = true;
      if (handled.stream->trouble() == ConnectionStream::Trouble::too_slow) {
        status = 408;
      } else if (handled.stream->trouble() == ConnectionStream::Trouble::too_much_overhead) {
        status = 413;
      }
      put_refusal(request, routes_.broken(status == 0 ? 400 : status), response);
      return;
    }
    put(routes_.answer(head_of(request), body, cancelled()), response);
  }

  bool process_and_close_socket(socket_t socket) override {
    ++connections_;
    const bool fine = handle(socket);
    shutdown(socket, SHUT_RDWR);
    close(socket);
    --connections_;
    return fine;
  }

  bool handle(int socket) {
    if (one_too_many) {
      constexpr std::string_view kAnswer =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
          "Connection: close\r\n\r\n";
      return tls_ == nullptr &&
             send(socket, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
    }
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    TlsConnection tls;
    if (tls_ != nullptr) {
      tls.reset(SSL_new(tls_.get()));
      if (tls == nullptr || SSL_set_fd(tls.get(), socket) != 1) {
        return false;
      }
    }
    ConnectionStream stream(socket, tls.get(), options_, wake_);
    if (tls != nullptr && !stream.shake_hands()) {
      return false;
    }
    handled = {&stream, false};
    bool fine = true;
    bool closed = false;
    while (fine && !closed && !handled.must_close && stream.wait_for_request()) {
      stream.begin_request();
      fine = process_request(stream, false, closed, nullptr);
      fine = fine && stream.trouble() == ConnectionStream::Trouble::none;
    }
    if (tls != nullptr && fine) {
      SSL_shutdown(tls.get());
    }
    linger(socket);
    handled = {};
    return fine;
  }

  /// A client that still sends would not see our last answer if its bytes were left unread.
  void linger(int socket) const {
    if (!handled.must_close) {
      return;
    }
    shutdown(socket, SHUT_WR);
    std::array<char, 16 << 10> bytes;
    constexpr auto kPatience = std::chrono::milliseconds(500);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      pollfd waiting{socket, POLLIN, 0};
      if (poll(&waiting, 1, 50) > 0 &&
          recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) {
        return;
      }
    }
  }

  ServerOptions options_;
  Routes& routes_;
  TlsContext tls_;
  int wake_;
  SharedBytes bodies_;
  std::atomic<std::int64_t> connections_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  int port_ = -1;
  std::atomic<bool> ended_ = false;
  std::thread listener_;
};

HttpServer::HttpServer(const ServerOptions& options, Routes& routes)
    : implementation_(std::make_unique<Implementation>(options, routes)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return implementation_->port();
}

bool HttpServer::listening() const {
  return implementation_->listening();
}

void HttpServer::stop() {
  implementation_->end();
}

std::int64_t HttpServer::connections() const {
  return implementation_->connections();
}

std::uint64_t HttpServer::connections_refused() const {
  return implementation_->refused();
}

std::size_t HttpServer::body_bytes() const {
  return implementation_->body_bytes();
}

}  // namespace cosmic::serve::http
