// Asks a server to tag events: sparse pixels over HTTP, on connections that are kept. It needs
// neither a network nor gRPC. Of several servers it asks the first that answers, and tries again
// with growing pauses where that may help; what it never does is to make up an answer.
//
//   client::TaggingClient client({.servers = {"http://farm1:8000", "http://farm2:8000"}});
//   const client::RemoteModel model = client.model();
//   const client::RemoteTags tags = client.tag(event.image);      // tags.computed_by says who
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/event.hpp"

namespace cosmic::serve::client {

struct ClientOptions {
  std::vector<std::string> servers;  ///< "http://HOST:PORT", in the order to ask
  std::string model = "cosmictagger";
  std::string version = {};  ///< empty for the highest
  std::string token = {};
  std::string certificates = {};  ///< PEM file of those that sign; empty for the system's
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{120'000};  ///< of a request, each time
  int attempts = 6;                            ///< in all, over all servers
  std::chrono::milliseconds first_pause{100};  ///< doubles each time, up to `longest_pause`
  std::chrono::milliseconds longest_pause{5'000};
  std::uint64_t seed = 0;  ///< of the jitter; 0 for another each time
  /// Hears of servers that failed; empty for nobody.
  std::function<void(const std::string&)> tell = {};
};

/// No server answered, each time for its own reason; what() has the last.
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A server that understood the request and refused it: asking again would not help.
class Refused : public std::runtime_error {
 public:
  Refused(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// A server that shows a certificate nobody trusted here has signed. It may be another one than was
/// meant, so nothing was sent to it, and asking again would not help.
class Untrusted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a client has to know of a model to prepare events and to make sense of answers.
struct RemoteModel {
  std::string name;
  std::string version;
  std::string weights;  ///< their fingerprint
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  int downsample = 0;
  bool img_transform = false;
};

/// At the pixels of an event, plane by plane in their order.
struct RemoteTags {
  data::SparseImage tag;
  data::SparseImage cosmic;
  data::SparseImage neutrino;
  /// "http://farm1:8000 cosmictagger version 1 (weights 18ab...)"
  std::string computed_by;
  std::string weights;
};

/// Belongs to one thread; several threads have one each.
class TaggingClient {
 public:
  /// Throws std::invalid_argument for a server that is no URL, and for certificates that cannot be
  /// read.
  explicit TaggingClient(ClientOptions options);
  ~TaggingClient();
  TaggingClient(TaggingClient&&) noexcept;
  TaggingClient& operator=(TaggingClient&&) noexcept;

  /// Both throw Unreachable, Refused and Untrusted.
  RemoteModel model();
  RemoteTags tag(const data::SparseImage& image);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cosmic::serve::client
