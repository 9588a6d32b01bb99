#include "output/run_log.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <ctime>
#include <utility>

#include "core/error.hpp"

namespace cosmic::output {
namespace {

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return "INFO";
    case LogLevel::warning:
      return "WARNING";
    case LogLevel::error:
      return "ERROR";
  }
  throw InternalError("unknown log level");
}

}  // namespace

std::string log_line(std::chrono::system_clock::time_point time, LogLevel level,
                     std::string_view message) {
  using std::chrono::milliseconds;
  const auto whole_seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<milliseconds>(time - whole_seconds);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole_seconds);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02},{:03} - {} - {}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     rest.count(), name_of(level), message);
}

RunLog::RunLog(const std::filesystem::path& file, Console console, Opening opening, LogLevel least)
    : console_(std::move(console)), least_(least), later_(file) {
  if (opening == Opening::now) {
    open();
  }
}

void RunLog::open() {
  if (later_.empty()) {
    return;
  }
  file_.emplace(std::exchange(later_, {}), AppendFile::Start::continued);
  for (const std::string& line : std::exchange(lines_, {})) {
    write_to_file(line);
  }
}

void RunLog::print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);  // so that a reader of a pipe sees each line when it is written
}

void RunLog::write(LogLevel level, std::string_view message) {
  if (level < least_) {
    return;
  }
  const std::string line = log_line(std::chrono::system_clock::now(), level, message);
  if (!spared_.empty()) {
    tell(LogLevel::info, std::exchange(spared_, {}));
  }
  tell(level, line);
  keep(line);
}

void RunLog::routine(std::string_view message) {
  if (LogLevel::info < least_) {
    return;
  }
  const std::string line = log_line(std::chrono::system_clock::now(), LogLevel::info, message);
  if (since_routine_ && since_routine_->seconds() < console_pause_) {
    spared_ = line;
  } else {
    spared_.clear();
    since_routine_.emplace();
    tell(LogLevel::info, line);
  }
  keep(line);
}

void RunLog::tell(LogLevel level, const std::string& line) {
  if (level >= console_least_) {
    console_(line);
  }
}

void RunLog::keep(const std::string& line) {
  if (file_) {
    write_to_file(line);
  } else if (!later_.empty()) {
    lines_.push_back(line);
  }
}

void RunLog::write_to_file(const std::string& line) {
  try {
    if (lines_lost_ > 0) {
      file_->append(log_line(std::chrono::system_clock::now(), LogLevel::warning,
                             fmt::format("{} lines before this one are missing: there was no room "
                                         "for them.",
                                         lines_lost_)) +
                    '\n');
      lines_lost_ = 0;
    }
    file_->append(line + '\n');
  } catch (const DataError& full) {
    if (lines_lost_++ == 0) {
      console_(log_line(
          std::chrono::system_clock::now(), LogLevel::warning,
          std::string("The log is not complete from here on, the run goes on: ") + full.what()));
    }
  }
}

}  // namespace cosmic::output
