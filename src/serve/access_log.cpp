#include "serve/access_log.hpp"

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace cosmic::serve {
namespace {

/// "2024-05-01T12:30:00.123Z"
std::string time_text() {
  using std::chrono::system_clock;
  const system_clock::time_point now = system_clock::now();
  const std::time_t seconds = system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  constexpr long kThousand = 1000;
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::string thousandths = std::to_string(kThousand + since.count() % kThousand);
  return std::string(text, length) + "." + thousandths.substr(1) + "Z";
}

}  // namespace

AccessLog::AccessLog(const std::filesystem::path& file, double slow_seconds, Tell tell)
    : slow_seconds_(slow_seconds), tell_(std::move(tell)) {
  if (!file.empty()) {
    file_.emplace(file, output::AppendFile::Start::continued);
  }
}

std::string line_of(const AccessRecord& record, bool slow) {
  nlohmann::ordered_json line;
  line["time"] = time_text();
  line["protocol"] = record.protocol;
  line["peer"] = record.peer;
  line["request"] = record.what;
  line["status"] = record.status;
  line["request_bytes"] = record.request_bytes;
  line["answer_bytes"] = record.answer_bytes;
  line["seconds"] = record.seconds;
  if (!record.model.empty()) {
    line["model"] = record.model;
    line["version"] = record.version;
  }
  if (!record.id.empty()) {
    line["id"] = record.id;
  }
  if (record.times) {
    line["events"] = record.events;
    line["queue_seconds"] = record.times->queue;
    line["input_seconds"] = record.times->input;
    line["infer_seconds"] = record.times->infer;
    line["output_seconds"] = record.times->output;
  }
  if (slow) {
    line["slow"] = true;
  }
  if (!record.error.empty()) {
    line["error"] = record.error;
  }
  // Names come from outside and may be anything.
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

void AccessLog::add(const AccessRecord& record) {
  const bool slow = slow_seconds_ > 0 && record.seconds > slow_seconds_;
  if (!file_ && !slow) {
    return;
  }
  const std::string line = line_of(record, slow);
  const std::lock_guard lock(mutex_);
  if (slow) {
    tell_("slow request: " + line);
  }
  if (!file_) {
    return;
  }
  try {
    file_->append(line + "\n");
    told_ = false;
  } catch (const DataError& error) {
    ++lost_;
    if (!told_) {
      told_ = true;
      tell_(std::string(error.what()) + "; requests are served and their lines are lost");
    }
  }
}

}  // namespace cosmic::serve
