#include "cli/monitor_view.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/printable.hpp"
#include "core/provenance.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

using monitor::JobProgress;
using monitor::JobState;
using monitor::RunningJob;

// A job that has not updated its record for this long is in a long step, or stopped.
constexpr double kSilentSeconds = 10;

enum class Align { left, right };

struct Column {
  std::string_view title;
  Align align;
};

/// The rate of a job is what the clock of this host shows. That is the machine's own only where the
/// machine is this host; beside a modelled one stands what the formulas say.
enum class Machines { here, modelled };

/// Do jobs of this target compute on devices beside the host?
enum class Devices { none, named };

std::vector<Column> columns_for(Machines machines, Devices devices) {
  std::vector<Column> columns{
      {"PID", Align::right}, {"COMMAND", Align::left}, {"RUN", Align::left},
      {"USER", Align::left}, {"MODE", Align::left},    {"MACHINE", Align::left},
  };
  if (devices == Devices::named) {
    columns.push_back({"DEVICE", Align::left});
  }
  columns.insert(columns.end(), {{"TIME", Align::right},
                                 {"MEMORY", Align::right},
                                 {"CORES", Align::right},
                                 {"DONE", Align::right}});
  if (machines == Machines::here) {
    columns.push_back({"EVENTS/S", Align::right});
  } else {
    columns.push_back({"HOST EVENTS/S", Align::right});
    columns.push_back({"MODELLED EVENTS/S", Align::right});
  }
  columns.push_back({"LOSS", Align::right});
  columns.push_back({"STATE", Align::left});
  return columns;
}

using Row = std::vector<std::string>;

std::string user_name() {
  const passwd* const entry = getpwuid(geteuid());
  return entry == nullptr ? std::to_string(geteuid()) : entry->pw_name;
}

/// What people wrote, fit for a cell.
std::string cell(const std::string& text) {
  constexpr std::size_t kMost = 20;
  const std::string quoted = printable(text);
  const std::string plain = quoted.substr(1, quoted.size() - 2);
  return plain.size() <= kMost ? plain : plain.substr(0, kMost - 3) + "...";
}

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds);
  const long days = whole / 86'400;
  return (days > 0 ? fmt::format("{}d ", days) : "") +
         fmt::format("{}:{:02}:{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60);
}

std::string memory(std::int64_t bytes) {
  const double megabytes = 1e-6 * static_cast<double>(bytes);
  return megabytes < 1000 ? fmt::format("{:.0f} MB", megabytes)
                          : fmt::format("{:.1f} GB", 1e-3 * megabytes);
}

std::string done_of(const JobProgress& progress) {
  if (progress.state != JobState::running) {
    return "-";
  }
  const std::string unit = monitor::to_string(progress.unit);
  return progress.total > 0 ? fmt::format("{} of {} {}", progress.done, progress.total, unit)
                            : fmt::format("{} {}", progress.done, unit);
}

std::string state_of(const RunningJob& job) {
  const std::string state = monitor::to_string(job.record.progress.state);
  return job.seconds_since_update < kSilentSeconds
             ? state
             : fmt::format("{}, silent for {}", state, duration(job.seconds_since_update));
}

/// Busy on average since the process started.
double cores_of(const RunningJob& job) {
  return job.seconds > 0 ? job.usage.processor_seconds / job.seconds : 0;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string modelled_text(const std::optional<monitor::ModelledRate>& rate) {
  return rate ? fmt::format("{:.3g} ({:.3g} to {:.3g})", rate->best, rate->low, rate->high) : "-";
}

/// Some commands compute no events at all.
std::string host_rate_text(const JobProgress& progress) {
  return progress.state == JobState::running && progress.host_events_per_second > 0
             ? fmt::format("{:.3g}", progress.host_events_per_second)
             : "-";
}

Row row_of(const RunningJob& job, const std::string& user, Machines machines, Devices devices) {
  const JobProgress& progress = job.record.progress;
  Row row{std::to_string(job.record.process.number), cell(job.record.description.command),
          or_dash(cell(job.record.description.run)), user,
          cell(job.record.description.compute_mode), cell(job.record.description.machine)};
  if (devices == Devices::named) {
    row.push_back(or_dash(cell(job.record.description.device)));
  }
  row.insert(row.end(),
             {duration(job.seconds), memory(job.usage.resident_bytes),
              fmt::format("{:.1f}", cores_of(job)), done_of(progress), host_rate_text(progress)});
  if (machines == Machines::modelled) {
    row.push_back(modelled_text(progress.modelled));
  }
  row.push_back(progress.loss ? fmt::format("{:.4g}", *progress.loss) : "-");
  row.push_back(state_of(job));
  return row;
}

std::vector<std::string> table(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(columns.size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += "  " + (columns[i].align == Align::left ? row[i] + gap : gap + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line);
  }
  return lines;
}

Machines machines_of(const TargetJobs& group) {
  return group.provenance == to_string(Provenance::measured) ? Machines::here : Machines::modelled;
}

Devices devices_of(const TargetJobs& group) {
  return std::any_of(group.jobs.begin(), group.jobs.end(),
                     [](const RunningJob& job) { return !job.record.description.device.empty(); })
             ? Devices::named
             : Devices::none;
}

std::string or_dash(const std::optional<double>& value, double scale, std::string_view unit) {
  return value ? fmt::format("{:.0f}{}", *value * scale, unit) : "-";
}

/// "312 of 700 W", with what is known of the two.
std::string of_most(const std::string& now, const std::string& most, std::string_view unit) {
  return fmt::format("{} of {}{}", now, most, unit);
}

Row row_of(const monitor::DeviceStatus& device) {
  const auto gigabytes = [](const std::optional<std::int64_t>& bytes) {
    return bytes ? fmt::format("{:.1f}", 1e-9 * static_cast<double>(*bytes)) : std::string("-");
  };
  return {std::to_string(device.index),
          or_dash(cell(device.name)),
          or_dash(cell(device.bus_id)),
          or_dash(device.clock_hz, 1e-6, " MHz"),
          or_dash(device.celsius, 1, " C"),
          of_most(or_dash(device.watts, 1, ""), or_dash(device.most_watts, 1, ""), " W"),
          of_most(gigabytes(device.used_bytes), gigabytes(device.total_bytes), " GB"),
          or_dash(device.utilisation, 100, " %")};
}

void add_lines_of_devices(const MonitorView& view, std::vector<std::string>& lines) {
  lines.emplace_back();
  if (!view.why_no_devices.empty()) {
    lines.push_back(fmt::format("GPUs: not shown, because {}", view.why_no_devices));
    return;
  }
  lines.push_back(fmt::format("GPUs of this machine: {}", view.devices.size()));
  if (view.devices.empty()) {
    return;
  }
  const std::vector<Column> columns{{"GPU", Align::right},         {"NAME", Align::left},
                                    {"BUS", Align::left},          {"CLOCK", Align::right},
                                    {"TEMPERATURE", Align::right}, {"POWER", Align::right},
                                    {"MEMORY", Align::right},      {"UTILISATION", Align::right}};
  std::vector<Row> rows(1);
  for (const Column& column : columns) {
    rows.front().emplace_back(column.title);
  }
  for (const monitor::DeviceStatus& device : view.devices) {
    rows.push_back(row_of(device));
  }
  for (std::string& line : table(columns, rows)) {
    lines.push_back(std::move(line));
  }
}

std::string heading(const TargetJobs& group) {
  return fmt::format("{} ({}): {}", cell(group.target), cell(group.provenance),
                     group.jobs.empty()       ? "no jobs"
                     : group.jobs.size() == 1 ? "1 job"
                                              : fmt::format("{} jobs", group.jobs.size()));
}

/// JSON has no infinity and no NaN.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(const std::optional<monitor::ModelledRate>& rate) {
  if (!rate) {
    return nullptr;
  }
  return {{"best", number(rate->best)}, {"low", number(rate->low)}, {"high", number(rate->high)}};
}

nlohmann::ordered_json json_of(const monitor::DeviceStatus& device) {
  const auto known = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  return {{"index", device.index},
          {"name", device.name},
          {"bus_id", device.bus_id},
          {"clock_hz", known(device.clock_hz)},
          {"celsius", known(device.celsius)},
          {"watts", known(device.watts)},
          {"most_watts", known(device.most_watts)},
          {"used_bytes", known(device.used_bytes)},
          {"total_bytes", known(device.total_bytes)},
          {"utilisation", known(device.utilisation)}};
}

/// What a clock or a formula says stands under its origin, so that no figure is read without it.
nlohmann::ordered_json json_of(const RunningJob& job, const std::string& user) {
  const monitor::JobDescription& description = job.record.description;
  const JobProgress& progress = job.record.progress;
  nlohmann::ordered_json json{
      {"pid", job.record.process.number},
      {"command", description.command},
      {"run", description.run},
      {"user", user},
      {"target", description.target},
      {"machine", description.machine},
      {"compute_mode", description.compute_mode},
      {"provenance", description.provenance},
      {"folder", description.folder},
      {"device", description.device.empty() ? nlohmann::ordered_json(nullptr)
                                            : nlohmann::ordered_json(description.device)},
      {"device_bus_id", description.bus_id.empty() ? nlohmann::ordered_json(nullptr)
                                                   : nlohmann::ordered_json(description.bus_id)},
      {"state", monitor::to_string(progress.state)},
      {"unit", monitor::to_string(progress.unit)},
      {"done", progress.done},
      {"total", progress.total},
      {"loss", progress.loss ? number(*progress.loss) : nlohmann::ordered_json(nullptr)},
  };
  json["measured_on_host"] = {
      {"events_per_second", number(progress.host_events_per_second)},
      {"seconds", job.seconds},
      {"seconds_since_update", job.seconds_since_update},
      {"resident_bytes", job.usage.resident_bytes},
      {"processor_seconds", job.usage.processor_seconds},
  };
  json["modelled"] = nullptr;
  if (progress.modelled) {
    json["modelled"] = {{"events_per_second", json_of(progress.modelled)}};
  }
  return json;
}

}  // namespace

MonitorView monitor_view(monitor::JobList list, const monitor::Nvml& nvml) {
  MonitorView view;
  view.time = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
  view.host = monitor::this_process_table().host;
  view.user = user_name();
  view.notes = std::move(list.notes);
  view.devices = nvml.devices();
  view.why_no_devices = nvml.why_not();
  for (const std::string& name : target::target_names()) {
    view.targets.push_back({name, to_string(target::provenance_of(name)), {}});
  }
  for (RunningJob& job : list.jobs) {
    const std::string& target = job.record.description.target;
    auto group = std::find_if(view.targets.begin(), view.targets.end(),
                              [&](const TargetJobs& t) { return t.target == target; });
    if (group == view.targets.end()) {  // of a program with other targets than this one
      view.targets.push_back({target, job.record.description.provenance, {}});
      group = view.targets.end() - 1;
    }
    group->jobs.push_back(std::move(job));
  }
  return view;
}

std::vector<std::string> monitor_lines(const MonitorView& view) {
  std::vector<std::string> lines{fmt::format("cosmictagger {}   {}   jobs of {} on {}", version,
                                             view.time, cell(view.user), cell(view.host))};
  for (const TargetJobs& group : view.targets) {
    lines.emplace_back();
    lines.push_back(heading(group));
    if (group.jobs.empty()) {
      continue;
    }
    const Devices devices = devices_of(group);
    const std::vector<Column> columns = columns_for(machines_of(group), devices);
    std::vector<Row> rows(1);
    for (const Column& column : columns) {
      rows.front().emplace_back(column.title);
    }
    for (const RunningJob& job : group.jobs) {
      rows.push_back(row_of(job, cell(view.user), machines_of(group), devices));
    }
    for (std::string& line : table(columns, rows)) {
      lines.push_back(std::move(line));
    }
  }
  add_lines_of_devices(view, lines);
  for (const std::string& note : view.notes) {
    lines.emplace_back("note: " + note);
  }
  return lines;
}

std::string monitor_json(const MonitorView& view) {
  nlohmann::ordered_json json{
      {"format", "cosmictagger monitor"},
      {"format_version", 2},
      {"program", "cosmictagger " + std::string(version)},
      {"time", view.time},
      {"host", view.host},
      {"user", view.user},
      {"targets", nlohmann::ordered_json::array()},
      {"notes", view.notes},
  };
  json["gpus"] = nlohmann::ordered_json::array();
  for (const monitor::DeviceStatus& device : view.devices) {
    json["gpus"].push_back(json_of(device));
  }
  json["no_gpus_because"] = view.why_no_devices.empty()
                                ? nlohmann::ordered_json(nullptr)
                                : nlohmann::ordered_json(view.why_no_devices);
  for (const TargetJobs& group : view.targets) {
    nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
    for (const RunningJob& job : group.jobs) {
      jobs.push_back(json_of(job, view.user));
    }
    json["targets"].push_back(
        {{"name", group.target}, {"provenance", group.provenance}, {"jobs", std::move(jobs)}});
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace cosmic::cli
