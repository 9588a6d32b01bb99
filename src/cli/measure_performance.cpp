// `cosmictagger measure-performance`: how fast a network trains or tags events.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/what_fits.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/whole_file.hpp"
#include "model/uresnet.hpp"
#include "run/measure_performance.hpp"
#include "run/records.hpp"

namespace cosmic::cli {
namespace {

struct PerformanceFlags {
  run::PerformanceOptions options;
  bool json = false;
  std::string record;  ///< file to write; none if empty
};

std::string clock_text(Provenance provenance) {
  return provenance == Provenance::measured ? "(measured)" : std::string(kHostClockMark);
}

double predicted_events_per_second(const run::Performance& p) {
  return static_cast<double>(p.events_per_run) / p.prediction->step.best.modelled_seconds();
}

void print_prediction(const run::Performance& p) {
  const machine::MemoryVerdict& memory = p.prediction->memory;
  fmt::print("  {:<14} {:.4g} events/s (modelled), {} per step on {}\n", "prediction",
             predicted_events_per_second(p), to_string(p.prediction->step), p.prediction->machine);
  fmt::print("  {:<14} {}: {} needs {} and has {}\n", "", to_string(memory.fits), memory.place,
             to_string(memory.needed), to_string(memory.available));
}

nlohmann::ordered_json prediction_json(const run::Performance& p) {
  const machine::Prediction& prediction = *p.prediction;
  nlohmann::ordered_json json;
  json["machine"] = prediction.machine;
  json["events_per_second"] = predicted_events_per_second(p);
  json["step_seconds"] = {{"best", prediction.step.best.modelled_seconds()},
                          {"low", prediction.step.low.modelled_seconds()},
                          {"high", prediction.step.high.modelled_seconds()}};
  json["fits"] = to_string(prediction.memory.fits);
  json["needed_bytes"] = prediction.memory.needed.modelled_bytes();
  json["available_bytes"] = prediction.memory.available.modelled_bytes();
  return json;
}

void print_text(const run::Performance& p, const std::string& title) {
  constexpr double kMegabyte = 1e6;
  fmt::print("{}\n", title);
  if (p.prediction) {
    print_prediction(p);
  }
  fmt::print("  {:<14} {:.4g} events/s {}\n", "throughput", p.events_per_second(),
             clock_text(p.provenance));
  fmt::print("  {:<14} {:.4g} s min, {:.4g} s median, {:.4g} s max over {} calls of {} events {}\n",
             "latency", p.least_seconds(), p.median_seconds(), p.most_seconds(), p.seconds.size(),
             p.events_per_call, clock_text(p.provenance));
  fmt::print("  {:<14} {:.1f} MB for the program, {:.1f} MB peak for the whole process{}\n",
             "memory", static_cast<double>(p.program_bytes) / kMegabyte,
             static_cast<double>(p.peak_resident_bytes) / kMegabyte,
             p.provenance == Provenance::measured ? "" : " on the host of a modelled run");
  if (p.device_memory) {
    fmt::print("  {:<14} {}\n", "device memory", to_string(*p.device_memory));
  }
  fmt::print("  {:<14} {:.3g} s {}\n", "compiling", p.compile_seconds, clock_text(p.provenance));
  fmt::print("  {:<14} {}\n", "events", p.events_from);
}

void print_json(const run::Performance& p, const config::Configuration& configuration,
                const data::DenseShape& shape) {
  nlohmann::ordered_json json;
  json["mode"] = model::to_string(configuration.mode.name);
  json["network"] = model::UResNet(configuration.network).name();
  json["target"] = p.target;
  json["kind"] = to_string(p.provenance);
  json["rows"] = shape.rows;
  json["columns"] = shape.columns;
  json["events_from"] = p.events_from;
  json["events_per_call"] = p.events_per_call;
  json["calls"] = p.seconds.size();
  nlohmann::ordered_json clock;
  clock["events_per_second"] = p.events_per_second();
  clock["latency_seconds"] = {
      {"least", p.least_seconds()}, {"median", p.median_seconds()}, {"most", p.most_seconds()}};
  clock["compile_seconds"] = p.compile_seconds;
  clock["program_bytes"] = p.program_bytes;
  clock["peak_resident_bytes"] = p.peak_resident_bytes;
  if (p.device_memory) {
    nlohmann::ordered_json parts;
    for (const target::MemoryNeed::Part& part : p.device_memory->need.parts()) {
      parts[part.what] = part.bytes;
    }
    json["device_memory"] = {{"device", p.device_memory->room.device.name},
                             {"planned_bytes", p.device_memory->need.bytes()},
                             {"free_bytes_before", p.device_memory->room.free},
                             {"total_bytes", p.device_memory->room.total},
                             {"parts", std::move(parts)}};
  }
  if (p.prediction) {
    json["modelled"] = prediction_json(p);
    json["host_of_a_modelled_run"] = std::move(clock);
  } else {
    json.update(clock);
  }
  fmt::print("{}\n", json.dump(2));
}

/// For `cosmictagger calibrate`. Of a modelled run only the host could be recorded.
void write_record(const run::Performance& p, const std::string& file,
                  const std::vector<std::string>& settings, Existing existing) {
  COSMIC_REQUIRE(UserError, p.provenance == Provenance::measured,
                 "--record " << file
                             << " was given for a modelled machine (its step was not "
                                "measured); run it on the machine itself");
  run::Record record{.name = file, .settings = settings, .observations = {}};
  const double runs =
      static_cast<double>(p.events_per_call) / static_cast<double>(p.events_per_run);
  record.observations.push_back({run::Observation::Kind::step, p.median_seconds() / runs});
  const std::int64_t bytes =
      p.device_memory ? p.device_memory->need.bytes() : p.peak_resident_bytes;
  record.observations.push_back({run::Observation::Kind::memory, static_cast<double>(bytes)});
  write_whole_file(file, run::to_json(record), existing);
}

void measure_and_print(PerformanceFlags flags, const config::Configuration& configuration,
                       const std::vector<std::string>& settings, const OverwriteFlag& overwrite) {
  COSMIC_REQUIRE(UserError, configuration.mode.name != config::Mode::iotest,
                 "mode=iotest runs no network; `cosmictagger iotest` measures reading");
  const OutputRule rule = output_rule(overwrite, configuration, settings);
  if (!flags.record.empty()) {
    require_output(flags.record, rule);
  }
  const std::string target = target_for(configuration.run.compute_mode);
  flags.options.shape = image_shape(configuration, flags.options.shape);
  PublishedJob job("measure-performance", configuration, target);
  job.compiling();
  const run::Performance performance = run::measure_performance(
      configuration, target, flags.options, [&](const run::PerformanceProgress& progress) {
        job.publish({.state = monitor::JobState::running,
                     .unit = monitor::JobUnit::calls,
                     .done = progress.calls,
                     .total = progress.all_calls,
                     .host_events_per_second = progress.events_per_second,
                     .modelled = modelled_rate(progress.modelled)});
      });
  for (const std::string& warning : performance.warnings) {
    fmt::print(stderr, "warning: {}\n", warning);
  }
  if (!flags.record.empty()) {
    write_record(performance, flags.record, settings, rule.existing);
  }
  if (flags.json) {
    print_json(performance, configuration, flags.options.shape);
    return;
  }
  print_text(
      performance,
      fmt::format("mode={} of {} on target {}, images of {} x {}, {} warm-up calls",
                  model::to_string(configuration.mode.name),
                  model::UResNet(configuration.network).name(), target, flags.options.shape.rows,
                  flags.options.shape.columns, flags.options.calls_before));
}

}  // namespace

void add_measure_performance(Command& app) {
  auto flags = std::make_shared<PerformanceFlags>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "measure-performance",
      "Measure events/s, latency and memory of training (mode=train) or inference");
  command->add_option("--calls", flags->options.calls, "Number of calls to measure")
      ->between(1, kMostRepeats)
      ->capture_default_str();
  command
      ->add_option("--calls-before", flags->options.calls_before,
                   "Number of warm-up calls before them")
      ->between(0, kMostRepeats)
      ->capture_default_str();
  command->add_option(
      "--rows", flags->options.shape.rows,
      "Rows of the images; by default those of data.file if it exists, otherwise the detector's");
  command->add_option("--columns", flags->options.shape.columns, "Columns of the images");
  command->add_flag("--json", flags->json, "Print JSON");
  command
      ->add_option("--record", flags->record,
                   "Also write a record of it to this file, for `cosmictagger calibrate`")
      ->type_name("FILE.json");
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([flags, command, overwrite] {
    const config::Configuration configuration = configuration_from(
        command->remaining(), config::ParseOptions{.command = config::Command::measure_performance,
                                                   .missing = config::MissingKeys::leave});
    run_or_say_what_fits(configuration, TrainingPrograms::step, [&] {
      measure_and_print(*flags, configuration, command->remaining(), overwrite);
    });
  });
}

}  // namespace cosmic::cli
