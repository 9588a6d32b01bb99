// A request and its answer over HTTP, without the library that reads and writes them: so tests and
// fuzzers ask without a socket.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cosmic::serve::http {

struct Head {
  std::string method;
  std::string path;                            ///< without what follows a '?'
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string peer;

  std::string header(const std::string& lower_case_name) const {
    const auto found = headers.find(lower_case_name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// What a port offers.
class Routes {
 public:
  virtual ~Routes() = default;
  /// Before the body is read: why it need not be, if so.
  virtual std::optional<Answer> refuse(const Head& head) const = 0;
  /// `cancelled` says whether the client has gone.
  virtual Answer answer(const Head& head, std::string_view body,
                        const std::function<bool()>& cancelled) = 0;
  /// For one that never got as far: the library could not read it.
  virtual Answer broken(int status) const = 0;
  /// Hears of what was refused or broken and how it was answered, for a log.
  virtual void note_refused(const Head& /*head*/, const Answer& /*answer*/) {}
};

}  // namespace cosmic::serve::http
