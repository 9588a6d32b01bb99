// `cosmictagger iotest`: how fast events can be read, without a network that uses them.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_bar.hpp"
#include "cli/reference_spelling.hpp"
#include "cli/run_command.hpp"
#include "cli/standard_streams.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/process_memory.hpp"
#include "data/larcv/event_files.hpp"
#include "run/iotest.hpp"

namespace cosmic::cli {
namespace {

struct IoTestFlags {
  run::IoTestOptions options;
  bool json = false;
};

double megabytes(std::int64_t bytes) {
  return 1e-6 * static_cast<double>(bytes);
}

void print_json(const run::IoTest& test, const run::IoTestOptions& options) {
  const data::Throughput& result = test.throughput;
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const std::filesystem::path& file : options.files) {
    files.push_back(file.string());
  }
  std::uint64_t warnings = 0;
  for (const data::ReadNote& note : result.notes) {
    warnings += note.count;
  }
  const nlohmann::ordered_json report{
      {"files", files},
      {"entries", test.entries ? nlohmann::ordered_json(*test.entries) : nullptr},
      {"order", options.order},
      {"batch", options.batch},
      {"downsample", options.downsample},
      {"threads", test.threads},
      {"events", result.events},
      {"seconds", result.seconds},
      {"events_per_second", result.events_per_second()},
      {"megabytes_per_second", result.megabytes_per_second()},
      {"reading_ms_per_event", result.reading_ms_per_event()},
      {"converting_ms_per_event", result.converting_ms_per_event()},
      {"megabytes_per_event", result.megabytes_per_event()},
      {"pixels_events_per_second", test.as_pixels.events_per_second()},
      {"pixels_converting_ms_per_event", test.as_pixels.converting_ms_per_event()},
      {"pixels_megabytes_per_event", test.as_pixels.megabytes_per_event()},
      {"threads_busy_share", test.busy_share()},
      {"waiting_share", result.times.waiting_seconds / result.seconds},
      {"peak_memory_megabytes", megabytes(peak_resident_bytes())},
      {"warnings", warnings},
  };
  fmt::print("{}\n", report.dump(2));
}

void print_text(const run::IoTest& test, const run::IoTestOptions& options) {
  const data::Throughput& result = test.throughput;
  fmt::print("{:<9} {} events in {:.2f} s: {}, {} per batch, 3 x {} x {} pixels each\n",
             options.detector ? "Made" : "Read", result.events, result.seconds,
             options.detector ? "the simulated detector" : options.order, options.batch,
             test.shape.rows, test.shape.columns);
  fmt::print("Speed     {:.1f} events/s, {:.0f} MB/s of stored pixels\n",
             result.events_per_second(), result.megabytes_per_second());
  fmt::print("An event  {:.2f} ms {}, {:.2f} ms downsampling and filling\n",
             result.reading_ms_per_event(), options.detector ? "making" : "reading and inflating",
             result.converting_ms_per_event());
  fmt::print(
      "Handed    as images {:.1f} events/s of {:.2f} MB; as pixels {:.1f} events/s of {:.2f} "
      "MB, {:.2f} ms downsampling and sorting\n",
      result.events_per_second(), result.megabytes_per_event(), test.as_pixels.events_per_second(),
      test.as_pixels.megabytes_per_event(), test.as_pixels.converting_ms_per_event());
  fmt::print("Threads   {}, busy {:.0f} % of the time; the caller waited {:.0f} %\n", test.threads,
             100 * test.busy_share(), 100 * result.times.waiting_seconds / result.seconds);
  fmt::print("Memory    {:.0f} MB peak\n", megabytes(peak_resident_bytes()));
}

void measure_and_print(const run::IoTestOptions& options, bool json) {
  ProgressBar bar(0.3);
  const run::IoTest test = run::run_iotest(options, [&](data::BatchForm form,
                                                        const data::Throughput& so_far) {
    const bool pixels = form == data::BatchForm::pixels;
    const double part = static_cast<double>(so_far.events) / static_cast<double>(options.events);
    bar.update(0.5 * (std::min(part, 1.0) + (pixels ? 1 : 0)),
               fmt::format("{} of {} events as {}, {:.1f} events/s", so_far.events, options.events,
                           pixels ? "pixels" : "images", so_far.events_per_second()));
  });
  bar.finish();
  for (const data::ReadNote& note : test.throughput.notes) {
    tell("warning: {}\n", data::to_text(note));
  }
  if (!test.throughput.remark.empty()) {
    tell("note: {}\n", test.throughput.remark);
  }
  if (json) {
    print_json(test, options);
  } else {
    print_text(test, options);
  }
}

}  // namespace

void add_iotest(Command& app) {
  auto flags = std::make_shared<IoTestFlags>();  // the callback holds it too
  run::IoTestOptions* const options = &flags->options;
  Command* command = app.add_subcommand(
      "iotest", "Read events as training does, or make them (data=detector), and report the speed");
  auto words = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("FILE", *words,
                   "larcv3 files or patterns such as 'runs/*.h5', read one after the other; or the "
                   "settings of a run, key=value")
      ->required();
  command->add_option("--batch", options->batch, "Events per batch")
      ->between(1, kMostBatchEvents)
      ->capture_default_str();
  command->add_option("--downsample", options->downsample, "Number of times to halve both axes")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Reading threads; 0 for all cores")
      ->between(0, kMostThreads)
      ->capture_default_str();
  command->add_option("--events", options->events, "Events to read; files are read again if needed")
      ->between(1, kMostSteps)
      ->capture_default_str();
  command->add_option("--order", options->order, "random_blocks, serial_access or shuffled")
      ->capture_default_str();
  command->add_option("--start-index", options->start_index, "First event for serial_access")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed for the order and the flips")
      ->capture_default_str();
  command->add_option("--image", options->image_producer, "Producer of the images")
      ->capture_default_str();
  command->add_option("--label", options->label_producer, "Producer of the labels, if any")
      ->capture_default_str();
  command->add_flag("--flips", options->augmentation.flips,
                    "Also flip events at random, along wires and time");
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags, words] {
    if (is_setting(words->front())) {
      measure_and_print(run::iotest_options(configuration_from(*words, config::Command::iotest)),
                        flags->json);
      return;
    }
    const std::vector<std::filesystem::path> names(words->begin(), words->end());
    flags->options.files = data::larcv::find_event_files(names, "FILE");
    measure_and_print(flags->options, flags->json);
  });
}

}  // namespace cosmic::cli
