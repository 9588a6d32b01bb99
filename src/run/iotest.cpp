#include "run/iotest.hpp"

#include "core/checked_product.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/loader/event_samples.hpp"
#include "model/enum_text.hpp"
#include "run/run_data.hpp"

namespace cosmic::run {
namespace {

data::LoaderOptions loader_options(const IoTestOptions& options) {
  data::LoaderOptions loader;
  loader.batch = options.batch;
  loader.order = {.kind = data::order_kind(options.order),
                  .seed = options.seed,
                  .start_index = options.start_index};
  loader.threads = options.threads == 0 ? available_cores() : options.threads;
  return loader;
}

}  // namespace

IoTestOptions::IoTestOptions()
    : image_producer(data::larcv::LarcvOptions().image_producer),
      label_producer(data::larcv::LarcvOptions().label_producer) {}

IoTestOptions iotest_options(const config::Configuration& configuration) {
  const config::DataConfig& data = configuration.data;
  COSMIC_REQUIRE(UserError, !data.synthetic,
                 "data=synthetic has no files to read (iotest measures reading); use data=real");
  IoTestOptions options;
  options.files = event_files(data, Stream::training);
  options.image_producer = data.image_producer;
  options.label_producer = data.label_producer;
  options.order = model::to_string(data.order);
  options.batch = configuration.run.minibatch_size;
  const std::optional<std::int64_t> events =
      checked_product({configuration.run.iterations, configuration.run.minibatch_size});
  COSMIC_REQUIRE(
      UserError, events,
      "run.iterations = " << configuration.run.iterations << " batches of "
                          << configuration.run.minibatch_size
                          << " events (reading them would not end); choose smaller ones");
  options.events = *events;
  options.start_index = configuration.mode.start_index;
  options.seed = static_cast<std::uint64_t>(data.seed != 0 ? data.seed : configuration.run.seed);
  options.downsample = static_cast<int>(data.downsample);
  options.threads = static_cast<int>(data.threads);
  options.flips = data.augment == config::Augmentation::flips;
  return options;
}

double IoTest::busy_share() const {
  return (throughput.times.reading_seconds + throughput.times.converting_seconds) /
         (threads * throughput.seconds);
}

IoTest run_iotest(const IoTestOptions& options,
                  const std::function<void(const data::Throughput&)>& progress) {
  const data::larcv::LarcvSource source({.files = options.files,
                                         .image_producer = options.image_producer,
                                         .label_producer = options.label_producer});
  const data::EventSamples samples(
      source,
      {.dense = {.downsample = options.downsample},
       .augmentation = options.flips ? data::Augmentation::flips : data::Augmentation::none});
  const data::LoaderOptions loader = loader_options(options);
  IoTest test;
  test.throughput = data::measure_throughput(samples, loader, options.events, progress);
  test.entries = source.size();
  test.shape = data::dense_shape(source.meta(), options.downsample);
  test.threads = loader.threads;
  return test;
}

}  // namespace cosmic::run
