#include "cli/iotest.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/progress_bar.hpp"
#include "cli/reference_spelling.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "core/threads.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/loader/throughput.hpp"
#include "model/enum_text.hpp"
#include "train/run_data.hpp"

namespace cosmic::cli {
namespace {

data::LoaderOptions loader_options(const IoTestOptions& options) {
  data::LoaderOptions loader;
  loader.batch = options.batch;
  loader.order = {.kind = data::order_kind(options.order),
                  .seed = options.seed,
                  .start_index = options.start_index};
  loader.dense.downsample = options.downsample;
  loader.augmentation = options.flips ? data::Augmentation::flips : data::Augmentation::none;
  loader.threads = options.threads == 0 ? available_cores() : options.threads;
  return loader;
}

double megabytes(std::int64_t bytes) {
  return 1e-6 * static_cast<double>(bytes);
}

/// Of the time of all threads, what went into events.
double busy_share(const data::Throughput& result, int threads) {
  return (result.times.reading_seconds + result.times.converting_seconds) /
         (threads * result.seconds);
}

void print_json(const data::Throughput& result, const IoTestOptions& options,
                const data::larcv::LarcvSource& source, int threads) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const std::filesystem::path& file : options.files) {
    files.push_back(file.string());
  }
  const nlohmann::ordered_json report{
      {"files", files},
      {"entries", source.size()},
      {"order", options.order},
      {"batch", options.batch},
      {"downsample", options.downsample},
      {"threads", threads},
      {"events", result.events},
      {"seconds", result.seconds},
      {"events_per_second", result.events_per_second()},
      {"megabytes_per_second", result.megabytes_per_second()},
      {"reading_ms_per_event", result.reading_ms_per_event()},
      {"converting_ms_per_event", result.converting_ms_per_event()},
      {"threads_busy_share", busy_share(result, threads)},
      {"waiting_share", result.times.waiting_seconds / result.seconds},
      {"peak_memory_megabytes", megabytes(peak_resident_bytes())},
      {"warnings", source.warnings().total()},
  };
  fmt::print("{}\n", report.dump(2));
}

void print_text(const data::Throughput& result, const IoTestOptions& options,
                const data::larcv::LarcvSource& source, int threads) {
  const data::DenseShape shape = data::dense_shape(source.meta(), options.downsample);
  fmt::print("Read      {} events in {:.2f} s: {}, {} per batch, 3 x {} x {} pixels each\n",
             result.events, result.seconds, options.order, options.batch, shape.rows,
             shape.columns);
  fmt::print("Speed     {:.1f} events/s, {:.0f} MB/s of stored pixels\n",
             result.events_per_second(), result.megabytes_per_second());
  fmt::print("An event  {:.2f} ms reading and inflating, {:.2f} ms downsampling and filling\n",
             result.reading_ms_per_event(), result.converting_ms_per_event());
  fmt::print("Threads   {}, busy with events {:.0f} % of the time; the caller waited {:.0f} %\n",
             threads, 100 * busy_share(result, threads),
             100 * result.times.waiting_seconds / result.seconds);
  fmt::print("Memory    {:.0f} MB at most\n", megabytes(peak_resident_bytes()));
  for (const data::larcv::ReadWarning& warning : source.warnings().list()) {
    fmt::print(stderr, "warning: {} {}; the first: {}\n", warning.count,
               data::larcv::description(warning.kind), warning.first);
  }
}

}  // namespace

IoTestOptions::IoTestOptions()
    : image_producer(data::larcv::LarcvOptions().image_producer),
      label_producer(data::larcv::LarcvOptions().label_producer) {}

void run_iotest(const IoTestOptions& options) {
  const data::larcv::LarcvSource source({.files = options.files,
                                         .image_producer = options.image_producer,
                                         .label_producer = options.label_producer});
  const data::LoaderOptions loader = loader_options(options);
  ProgressBar bar(0.3);
  const data::Throughput result =
      data::measure_throughput(source, loader, options.events, [&](const data::Throughput& so_far) {
        bar.update(static_cast<double>(so_far.events) / static_cast<double>(options.events),
                   fmt::format("{} of {} events, {:.1f} events/s", so_far.events, options.events,
                               so_far.events_per_second()));
      });
  bar.finish();
  if (!result.remark.empty()) {
    fmt::print(stderr, "note: {}\n", result.remark);
  }
  if (options.json) {
    print_json(result, options, source, loader.threads);
  } else {
    print_text(result, options, source, loader.threads);
  }
}

IoTestOptions iotest_options(const config::Configuration& configuration) {
  const config::DataConfig& data = configuration.data;
  COSMIC_REQUIRE(UserError, !data.synthetic,
                 "data=synthetic has no files to read (iotest measures reading); use data=real");
  IoTestOptions options;
  options.files = train::event_files(data, train::Stream::training);
  options.image_producer = data.image_producer;
  options.label_producer = data.label_producer;
  options.order = model::to_string(data.order);
  options.batch = configuration.run.minibatch_size;
  options.events = configuration.run.iterations * configuration.run.minibatch_size;
  options.start_index = configuration.mode.start_index;
  options.seed = static_cast<std::uint64_t>(data.seed != 0 ? data.seed : configuration.run.seed);
  options.downsample = static_cast<int>(data.downsample);
  options.threads = static_cast<int>(data.threads);
  options.flips = data.augment == config::Augmentation::flips;
  return options;
}

void add_iotest(CLI::App& app) {
  auto options = std::make_shared<IoTestOptions>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "iotest", "Read events as training does, and say how fast and where the time goes");
  auto words = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("FILE", *words,
                   "larcv3 files or patterns such as 'runs/*.h5', whose events follow one "
                   "another; or the settings of a run, key=value")
      ->required();
  command->add_option("--batch", options->batch, "Events of a batch")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--downsample", options->downsample, "How often both axes are halved")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads that read; 0 for all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--events", options->events, "Events to read; files are read again if needed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--order", options->order, "random_blocks, serial_access or shuffled")
      ->capture_default_str();
  command->add_option("--start-index", options->start_index, "First event of serial_access")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the order and the flips")
      ->capture_default_str();
  command->add_option("--image", options->image_producer, "Producer of the images")
      ->capture_default_str();
  command
      ->add_option("--label", options->label_producer, "Producer of the labels, if there are any")
      ->capture_default_str();
  command->add_flag("--flips", options->flips, "Also flip events at random, along wires and time");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, words] {
    if (is_setting(words->front())) {
      IoTestOptions of_run = iotest_options(configuration_from(*words, config::Command::iotest));
      of_run.json = options->json;
      run_iotest(of_run);
      return;
    }
    const std::vector<std::filesystem::path> names(words->begin(), words->end());
    options->files = data::larcv::find_event_files(names, "FILE");
    run_iotest(*options);
  });
}

}  // namespace cosmic::cli
