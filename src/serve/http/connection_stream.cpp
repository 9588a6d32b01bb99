#include "serve/http/connection_stream.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace cosmic::serve::http {
namespace {

using Name = int (*)(int, sockaddr*, socklen_t*);

void address_of(int socket, Name name, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (name(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return;
  }
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

}  // namespace

ConnectionStream::ConnectionStream(int socket, SSL* tls, const ServerOptions& options, int wake)
    : socket_(socket), tls_(tls), options_(options), wake_(wake) {
  begin_request();
}

bool ConnectionStream::wait_for(short events, Clock::time_point deadline) const {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count() + 1;
    if (left <= 0) {
      return false;
    }
    pollfd waiting{socket_, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<long>(left, 60'000)));
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return false;
    }
  }
}

bool ConnectionStream::shake_hands() {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(options_.head_seconds);
  while (true) {
    ERR_clear_error();
    const int done = SSL_accept(tls_);
    if (done == 1) {
      return true;
    }
    const int error = SSL_get_error(tls_, done);
    const bool again = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    if (!again || !wait_for(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) {
      return false;
    }
  }
}

bool ConnectionStream::wait_for_request() {
  if (begin_ < end_ || (tls_ != nullptr && SSL_pending(tls_) > 0)) {
    return true;  // it came with the one before
  }
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(options_.idle_seconds);
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return false;
    }
    std::array<pollfd, 2> waiting{pollfd{socket_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(left));
    if (ready < 0 && errno != EINTR) {
      return false;
    }
    if (waiting[1].revents != 0) {
      return false;
    }
    if (waiting[0].revents != 0) {
      return !peer_has_gone();
    }
  }
}

void ConnectionStream::begin_request() {
  in_head_ = true;
  end_of_head_ = 0;
  head_ = 0;
  body_ = 0;
  content_ = 0;
  read_deadline_ = Clock::now() + std::chrono::seconds(options_.head_seconds);
  write_deadline_.reset();
}

bool ConnectionStream::peer_has_gone() const {
  if (tls_ != nullptr) {
    pollfd state{socket_, POLLRDHUP, 0};
    return poll(&state, 1, 0) > 0 && state.revents != 0;
  }
  char byte = 0;
  const ssize_t received = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return received == 0 || (received < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

ssize_t ConnectionStream::receive() {
  while (true) {
    ssize_t received = 0;
    short wanted = POLLIN;
    if (tls_ != nullptr) {
      ERR_clear_error();
      received = SSL_read(tls_, buffer_.data(), static_cast<int>(buffer_.size()));
      if (received > 0) {
        return received;
      }
      const int error = SSL_get_error(tls_, static_cast<int>(received));
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        return 0;
      }
      wanted = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    } else {
      received = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (received >= 0) {
        return received;
      }
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        return -1;
      }
    }
    if (!wait_for(wanted, read_deadline_)) {
      trouble_ = Trouble::too_slow;
      return -1;
    }
  }
}

void ConnectionStream::follow_head(char byte) {
  static constexpr std::array kEnd{'\r', '\n', '\r', '\n'};
  ++head_;
  if (byte == kEnd[static_cast<std::size_t>(end_of_head_)]) {
    ++end_of_head_;
  } else {
    end_of_head_ = byte == '\r' ? 1 : 0;
  }
  if (end_of_head_ == static_cast<int>(kEnd.size())) {
    in_head_ = false;
    read_deadline_ = Clock::now() + std::chrono::seconds(options_.body_seconds);
  } else if (head_ > options_.head_bytes) {
    trouble_ = Trouble::head_too_large;
  }
}

ssize_t ConnectionStream::read(char* to, std::size_t size) {
  if (trouble_ != Trouble::none) {
    return -1;
  }
  if (begin_ == end_) {
    const ssize_t received = receive();
    if (received <= 0) {
      trouble_ = trouble_ == Trouble::none ? Trouble::closed : trouble_;
      return received;
    }
    begin_ = 0;
    end_ = static_cast<std::size_t>(received);
  }
  if (in_head_) {  // the library asks for single bytes here
    *to = buffer_[begin_++];
    follow_head(*to);
    return trouble_ == Trouble::none ? 1 : -1;
  }
  const std::size_t taken = std::min(size, end_ - begin_);
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), taken, to);
  begin_ += taken;
  body_ += taken;
  // What was read ahead of its being counted is less than a buffer of the library.
  if (body_ > content_ + options_.overhead_bytes + options_.body_bytes ||
      (content_ > 0 && body_ > content_ + options_.overhead_bytes + buffer_.size())) {
    trouble_ = Trouble::too_much_overhead;
    return -1;
  }
  return static_cast<ssize_t>(taken);
}

ssize_t ConnectionStream::write(const char* from, std::size_t size) {
  if (!write_deadline_) {
    write_deadline_ = Clock::now() + std::chrono::seconds(options_.answer_seconds);
  }
  while (true) {
    short wanted = POLLOUT;
    if (tls_ != nullptr) {
      constexpr std::size_t kMost = 1 << 20;
      ERR_clear_error();
      const int sent = SSL_write(tls_, from, static_cast<int>(std::min(size, kMost)));
      if (sent > 0) {
        return sent;
      }
      const int error = SSL_get_error(tls_, sent);
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        trouble_ = Trouble::closed;
        return -1;
      }
      wanted = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    } else {
      const ssize_t sent = send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        return sent;
      }
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        trouble_ = Trouble::closed;
        return -1;
      }
    }
    if (!wait_for(wanted, *write_deadline_)) {
      trouble_ = Trouble::too_slow;
      return -1;
    }
  }
}

void ConnectionStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  address_of(socket_, getpeername, ip, port);
}

void ConnectionStream::get_local_ip_and_port(std::string& ip, int& port) const {
  address_of(socket_, getsockname, ip, port);
}

}  // namespace cosmic::serve::http
