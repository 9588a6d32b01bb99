#include "monitor/job_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic::monitor {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "cosmictagger job";
constexpr int kVersion = 2;  // 1 had one rate, of the host, and no machine

// Far more than the numbers of an update take.
constexpr std::size_t kUpdateBytes = 512;
// Texts of people are cut to this, so that a record keeps its size.
constexpr std::size_t kMostTextBytes = 1024;

std::string cut(const std::string& text) {
  return text.substr(0, kMostTextBytes);
}

/// JSON has no infinity and no NaN.
void append_number(std::string& text, double value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(text), "{}", value);
  } else {
    text += "null";
  }
}

std::string_view name_of(JobState state) {
  switch (state) {
    case JobState::starting:
      return "starting";
    case JobState::compiling:
      return "compiling";
    case JobState::running:
      return "running";
  }
  throw InternalError("unknown state of a job");
}

std::string_view name_of(JobUnit unit) {
  switch (unit) {
    case JobUnit::steps:
      return "steps";
    case JobUnit::events:
      return "events";
    case JobUnit::calls:
      return "calls";
    case JobUnit::values:
      return "values";
  }
  throw InternalError("unknown unit of a job");
}

JobState state_of(const std::string& name) {
  for (const JobState state : {JobState::starting, JobState::compiling, JobState::running}) {
    if (name == name_of(state)) {
      return state;
    }
  }
  throw DataError("its state is " + printable(name));
}

JobUnit unit_of(const std::string& name) {
  for (const JobUnit unit : {JobUnit::steps, JobUnit::events, JobUnit::calls, JobUnit::values}) {
    if (name == name_of(unit)) {
      return unit;
    }
  }
  throw DataError("it counts in " + printable(name));
}

/// null stands for a missing number.
double number_of(const json& value) {
  return value.is_null() ? std::nan("") : value.get<double>();
}

JobRecord record_of(const json& object) {
  const std::string format = object.at("format").get<std::string>();
  COSMIC_REQUIRE(DataError, format == kFormat, "its format is " << printable(format));
  const int version = object.at("format_version").get<int>();
  COSMIC_REQUIRE(
      DataError, version == kVersion,
      "it has version " << version << " of the format, this program reads version " << kVersion);
  JobRecord record;
  record.process = {object.at("pid").get<pid_t>(), object.at("process_start").get<std::uint64_t>()};
  record.table = {object.at("host").get<std::string>(), object.at("boot").get<std::string>(),
                  object.at("pid_namespace").get<std::string>()};
  record.description = {.command = object.at("command").get<std::string>(),
                        .run = object.at("run").get<std::string>(),
                        .target = object.at("target").get<std::string>(),
                        .machine = object.at("machine").get<std::string>(),
                        .compute_mode = object.at("compute_mode").get<std::string>(),
                        .provenance = object.at("provenance").get<std::string>(),
                        .folder = object.at("folder").get<std::string>(),
                        .device = object.value("device", ""),
                        .bus_id = object.value("device_bus_id", "")};
  record.started = object.at("started").get<double>();
  record.updated = object.at("updated").get<double>();
  record.progress.state = state_of(object.at("state").get<std::string>());
  record.progress.unit = unit_of(object.at("unit").get<std::string>());
  record.progress.done = object.at("done").get<std::int64_t>();
  record.progress.total = object.at("total").get<std::int64_t>();
  record.progress.host_events_per_second = number_of(object.at("host_events_per_second"));
  if (object.contains("modelled_events_per_second")) {
    const json& rate = object.at("modelled_events_per_second");
    record.progress.modelled = {number_of(rate.at("best")), number_of(rate.at("low")),
                                number_of(rate.at("high"))};
  }
  if (object.contains("loss")) {
    record.progress.loss = number_of(object.at("loss"));
  }
  return record;
}

}  // namespace

std::string to_string(JobState state) {
  return std::string(name_of(state));
}

std::string to_string(JobUnit unit) {
  return std::string(name_of(unit));
}

JobRecordText::JobRecordText(const ProcessId& process, const ProcessTable& table,
                             const JobDescription& description, double started) {
  const nlohmann::ordered_json constant{
      {"format", kFormat},
      {"format_version", kVersion},
      {"pid", process.number},
      {"process_start", process.start},
      {"host", cut(table.host)},
      {"boot", cut(table.boot)},
      {"pid_namespace", cut(table.name_space)},
      {"command", cut(description.command)},
      {"run", cut(description.run)},
      {"target", cut(description.target)},
      {"machine", cut(description.machine)},
      {"compute_mode", cut(description.compute_mode)},
      {"provenance", cut(description.provenance)},
      {"folder", cut(description.folder)},
      {"started", started},
      {"device", cut(description.device)},
      {"device_bus_id", cut(description.bus_id)},
  };
  // Names of folders may hold any bytes.
  text_ = constant.dump(-1, ' ', false, json::error_handler_t::replace);
  text_.pop_back();  // the object goes on
  constant_bytes_ = text_.size();
  text_.reserve(constant_bytes_ + kUpdateBytes);
}

std::string_view JobRecordText::with(const JobProgress& progress, double updated) {
  text_.resize(constant_bytes_);
  fmt::format_to(std::back_inserter(text_),
                 R"(,"updated":{},"state":"{}","unit":"{}","done":{},"total":{})", updated,
                 name_of(progress.state), name_of(progress.unit), progress.done, progress.total);
  text_ += R"(,"host_events_per_second":)";
  append_number(text_, progress.host_events_per_second);
  if (progress.modelled) {
    text_ += R"(,"modelled_events_per_second":{"best":)";
    append_number(text_, progress.modelled->best);
    text_ += R"(,"low":)";
    append_number(text_, progress.modelled->low);
    text_ += R"(,"high":)";
    append_number(text_, progress.modelled->high);
    text_ += '}';
  }
  if (progress.loss) {
    text_ += R"(,"loss":)";
    append_number(text_, *progress.loss);
  }
  text_ += "}\n";
  return text_;
}

JobRecord parse_job_record(std::string_view text) {
  try {
    return record_of(json::parse(text));
  } catch (const json::exception& error) {
    throw DataError(error.what());
  }
}

}  // namespace cosmic::monitor
