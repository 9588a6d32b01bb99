#include "cli/monitor_view.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "monitor/fake_nvml.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

using monitor::JobState;
using monitor::RunningJob;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

RunningJob job(const std::string& target, pid_t pid) {
  RunningJob result;
  result.record.process = {pid, 1};
  result.record.description = {.command = "train",
                               .run = "07",
                               .target = target,
                               .machine = "node7",
                               .compute_mode = "CPU",
                               .provenance = "measured",
                               .folder = "output/07"};
  result.record.progress = {.state = JobState::running,
                            .done = 120,
                            .total = 500,
                            .host_events_per_second = 2.125,
                            .loss = 0.25};
  result.usage = {.processor_seconds = 180, .resident_bytes = 1'300'000'000};
  result.seconds = 100'000;
  return result;
}

monitor::JobList jobs() {
  return {{job(target::target_names().front(), 11), job("elsewhere", 12)}, {"a file is no record"}};
}

/// On a machine without NVML.
MonitorView shown(monitor::JobList list) {
  return monitor_view(std::move(list), monitor::Nvml(nullptr, "there is no library"));
}

/// On one with two GPUs.
MonitorView shown_with_gpus(monitor::JobList list) {
  monitor::fake_nvml_machine() = {};
  return monitor_view(std::move(list),
                      monitor::Nvml(std::make_unique<monitor::fake_nvml::Functions>(), ""));
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

TEST(MonitorView, lists_every_target_of_the_build_and_those_that_jobs_name) {
  const MonitorView view = shown(jobs());
  const std::vector<std::string> known = target::target_names();
  ASSERT_EQ(view.targets.size(), known.size() + 1);
  EXPECT_EQ(view.targets.front().target, known.front());
  EXPECT_EQ(view.targets.front().jobs.size(), 1U);
  EXPECT_EQ(view.targets.back().target, "elsewhere");
  EXPECT_EQ(view.targets.back().jobs.size(), 1U);
}

TEST(MonitorView, as_text_has_a_line_for_each_job) {
  const std::vector<std::string> lines = monitor_lines(shown(jobs()));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("11"), HasSubstr("train"), HasSubstr("07"),
                                    HasSubstr("CPU"), HasSubstr("node7"), HasSubstr("1d 3:46:40"),
                                    HasSubstr("1.3 GB"), HasSubstr("120 of 500 steps"),
                                    HasSubstr("2.12"), HasSubstr("0.25"), HasSubstr("running"))));
  EXPECT_THAT(lines, Contains(target::target_names().front() + " (measured): 1 job"));
  EXPECT_THAT(lines, Contains("reference (measured): no jobs"));
  EXPECT_THAT(lines, Contains("note: a file is no record"));
}

/// A job for a machine that is not here.
monitor::JobList modelled_job(std::optional<monitor::ModelledRate> rate) {
  monitor::JobList list{{job("ipu", 13)}, {}};
  list.jobs[0].record.description.provenance = "modelled";
  list.jobs[0].record.description.machine = "GC200";
  list.jobs[0].record.progress.modelled = rate;
  return list;
}

TEST(MonitorView, does_not_show_the_rate_of_the_host_as_that_of_a_modelled_machine) {
  const std::vector<std::string> lines = monitor_lines(shown(modelled_job({{763, 587, 992}})));
  EXPECT_THAT(lines, Contains("ipu (modelled): 1 job"));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("MACHINE"), HasSubstr("  HOST EVENTS/S"),
                                    HasSubstr("  MODELLED EVENTS/S"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("GC200"),
                                    testing::ContainsRegex("2\\.12 +763 \\(587 to 992\\)"))));
  EXPECT_THAT(joined(lines), Not(testing::ContainsRegex("[^TD] EVENTS/S")));
}

TEST(MonitorView, shows_no_rate_of_a_machine_that_nobody_predicted) {
  const MonitorView view = shown(modelled_job(std::nullopt));
  EXPECT_THAT(monitor_lines(view), Contains(testing::ContainsRegex("2\\.12 +- ")));
}

TEST(MonitorView, json_keeps_what_the_host_measured_apart_from_what_was_modelled) {
  const MonitorView view = shown(modelled_job({{763, 587, 992}}));
  const nlohmann::json printed = nlohmann::json::parse(monitor_json(view));
  for (const nlohmann::json& target : printed.at("targets")) {
    if (target.at("jobs").empty()) {
      continue;
    }
    const nlohmann::json& shown = target.at("jobs").at(0);
    EXPECT_EQ(shown.at("machine"), "GC200");
    EXPECT_FALSE(shown.contains("events_per_second"));
    EXPECT_EQ(shown.at("measured_on_host").at("events_per_second"), 2.125);
    const nlohmann::json expected{{"best", 763.0}, {"low", 587.0}, {"high", 992.0}};
    EXPECT_EQ(shown.at("modelled").at("events_per_second"), expected);
  }
}

TEST(MonitorView, shows_the_gpus_of_the_machine_with_what_they_tell) {
  const std::vector<std::string> lines = monitor_lines(shown_with_gpus({}));
  EXPECT_THAT(lines, Contains("GPUs of this machine: 2"));
  EXPECT_THAT(lines, Contains(testing::ContainsRegex(
                         "0  NVIDIA H200 +00000000:18:00.0 +1980 MHz +41 C +312 of 700 W +5.9 of "
                         "150.8 GB +97 %")));
  EXPECT_THAT(lines, Contains(testing::ContainsRegex(
                         "1  NVIDIA A100 +00000000:3A:00.0 +- +- +- of - W +- of - GB +-")));
  EXPECT_THAT(joined(lines), Not(HasSubstr("not shown")));
}

TEST(MonitorView, says_once_that_there_is_no_nvml) {
  const std::string text = joined(monitor_lines(shown(jobs())));
  const std::string why = "GPUs: not shown, because there is no library";
  EXPECT_THAT(text, HasSubstr(why));
  EXPECT_EQ(text.find(why), text.rfind(why));
}

TEST(MonitorView, names_the_device_of_jobs_that_have_one) {
  monitor::JobList list = jobs();
  list.jobs[1].record.description.device = "NVIDIA H200";
  list.jobs[1].record.description.bus_id = "00000000:18:00.0";
  const std::vector<std::string> lines = monitor_lines(shown(list));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("  DEVICE  "), HasSubstr("MACHINE"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("12"), HasSubstr("  NVIDIA H200  "))));
  EXPECT_THAT(joined(monitor_lines(shown(jobs()))), Not(HasSubstr("DEVICE")));
  const nlohmann::json json = nlohmann::json::parse(monitor_json(shown(list)));
  const nlohmann::json& job = json.at("targets").back().at("jobs").at(0);
  EXPECT_EQ(job.at("device"), "NVIDIA H200");
  EXPECT_EQ(job.at("device_bus_id"), "00000000:18:00.0");
}

TEST(MonitorView, as_json_has_the_gpus_or_why_not) {
  const nlohmann::json json = nlohmann::json::parse(monitor_json(shown_with_gpus({})));
  EXPECT_TRUE(json.at("no_gpus_because").is_null());
  ASSERT_EQ(json.at("gpus").size(), 2U);
  const nlohmann::json& first = json.at("gpus").at(0);
  EXPECT_EQ(first.at("name"), "NVIDIA H200");
  EXPECT_EQ(first.at("bus_id"), "00000000:18:00.0");
  EXPECT_EQ(first.at("clock_hz"), 1980e6);
  EXPECT_EQ(first.at("celsius"), 41);
  EXPECT_EQ(first.at("used_bytes"), 5'900'000'000);
  EXPECT_TRUE(json.at("gpus").at(1).at("watts").is_null());
  const nlohmann::json without = nlohmann::json::parse(monitor_json(shown({})));
  EXPECT_TRUE(without.at("gpus").empty());
  EXPECT_EQ(without.at("no_gpus_because"), "there is no library");
}

TEST(MonitorView, tells_of_a_job_that_has_been_silent) {
  monitor::JobList list = jobs();
  list.jobs[0].seconds_since_update = 75;
  EXPECT_THAT(joined(monitor_lines(shown(list))), HasSubstr("running, silent for 0:01:15"));
}

TEST(MonitorView, lets_nothing_through_that_a_terminal_obeys) {
  monitor::JobList list = jobs();
  list.jobs[0].record.description.run = "\033[2J";
  list.jobs[1].record.description.target = "\033[2J";
  EXPECT_THAT(joined(monitor_lines(shown(list))), Not(HasSubstr("\033")));
}

TEST(MonitorView, as_json_has_all_that_the_text_has_and_more) {
  monitor::JobList list = jobs();
  list.jobs[1].record.progress.loss.reset();
  const nlohmann::json json = nlohmann::json::parse(monitor_json(shown(list)));
  EXPECT_EQ(json.at("format"), "cosmictagger monitor");
  EXPECT_EQ(json.at("format_version"), 2);
  EXPECT_EQ(json.at("program"), "cosmictagger " + std::string(version));
  for (const char* const key : {"time", "host", "user"}) {
    EXPECT_FALSE(json.at(key).get<std::string>().empty()) << key;
  }
  EXPECT_EQ(json.at("notes").at(0), "a file is no record");
  const nlohmann::json& target = json.at("targets").front();
  EXPECT_EQ(target.at("name"), target::target_names().front());
  EXPECT_EQ(target.at("provenance"), "measured");
  const nlohmann::json expected{
      {"pid", 11},
      {"command", "train"},
      {"run", "07"},
      {"user", json.at("user")},
      {"target", target.at("name")},
      {"machine", "node7"},
      {"compute_mode", "CPU"},
      {"provenance", "measured"},
      {"folder", "output/07"},
      {"device", nullptr},
      {"device_bus_id", nullptr},
      {"state", "running"},
      {"unit", "steps"},
      {"done", 120},
      {"total", 500},
      {"loss", 0.25},
      {"measured_on_host",
       {{"events_per_second", 2.125},
        {"seconds", 100'000.0},
        {"seconds_since_update", 0.0},
        {"resident_bytes", 1'300'000'000},
        {"processor_seconds", 180.0}}},
      {"modelled", nullptr},
  };
  EXPECT_EQ(target.at("jobs").at(0), expected);
  EXPECT_TRUE(json.at("targets").back().at("jobs").at(0).at("loss").is_null());
}

}  // namespace
}  // namespace cosmic::cli
