#include "monitor/job_name.hpp"

#include <charconv>

namespace cosmic::monitor {
namespace {

constexpr std::string_view kBegin = "job-";
constexpr std::string_view kEnd = ".json";
constexpr std::string_view kUnfinishedEnd = ".unfinished";

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) {
    return false;
  }
  text.remove_prefix(expected.size());
  return true;
}

}  // namespace

std::string job_file_name(const ProcessId& process, unsigned count) {
  return std::string(kBegin) + std::to_string(process.number) + "-" +
         std::to_string(process.start) + "-" + std::to_string(count) + std::string(kEnd);
}

std::string unfinished_name(const std::string& job_file) {
  return "." + job_file + std::string(kUnfinishedEnd);
}

std::optional<JobFile> parse_job_file_name(std::string_view name) {
  JobFile file;
  unsigned count = 0;
  if (take(name, ".")) {
    file.kind = JobFileKind::unfinished;
  }
  const bool named = take(name, kBegin) && take_number(name, file.process.number) &&
                     take(name, "-") && take_number(name, file.process.start) && take(name, "-") &&
                     take_number(name, count) && take(name, kEnd) &&
                     (file.kind == JobFileKind::record || take(name, kUnfinishedEnd)) &&
                     name.empty() && file.process.number > 0;
  return named ? std::optional(file) : std::nullopt;
}

}  // namespace cosmic::monitor
