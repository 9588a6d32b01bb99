// A line of JSON for every request. A disk that is full ends no server: lines that are lost are
// counted, and told of once.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "output/append_file.hpp"
#include "serve/tagging_call.hpp"

namespace cosmic::serve {

struct AccessRecord {
  std::string protocol;  ///< "http", "grpc"
  std::string peer;
  std::string what;  ///< "POST /v2/models/sbnd/infer"
  int status = 0;    ///< of the protocol
  std::size_t request_bytes = 0;
  std::size_t answer_bytes = 0;
  double seconds = 0;
  std::string model = {};
  std::string version = {};
  std::string id = {};
  std::int64_t events = 0;
  std::optional<CallTimes> times = {};  ///< of one that was tagged
  std::string error = {};
};

class AccessLog {
 public:
  using Tell = std::function<void(const std::string&)>;

  /// An empty path for no log. Requests that take longer than `slow_seconds` are told of as well,
  /// with where their time went; 0 for none. Throws DataError.
  AccessLog(const std::filesystem::path& file, double slow_seconds, Tell tell);

  void add(const AccessRecord& record);
  std::uint64_t lost() const { return lost_; }

 private:
  std::mutex mutex_;
  std::optional<output::AppendFile> file_;
  double slow_seconds_;
  Tell tell_;
  std::atomic<std::uint64_t> lost_ = 0;
  bool told_ = false;
};

/// Without its end of line.
std::string line_of(const AccessRecord& record, bool slow);

}  // namespace cosmic::serve
