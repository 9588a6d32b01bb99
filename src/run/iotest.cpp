#include "run/iotest.hpp"

#include <algorithm>
#include <memory>

#include "core/checked_product.hpp"
#include "core/error.hpp"
#include "core/thread_budget.hpp"
#include "data/detector/detector_source.hpp"
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
  loader.threads = options.threads == 0 ? thread_budget().threads : options.threads;
  if (options.detector) {
    loader.ring = ring_for_making(loader);
  }
  return loader;
}

std::unique_ptr<data::EventSource> source_of(const IoTestOptions& options) {
  if (options.detector) {
    return std::make_unique<data::detector::DetectorSource>(
        data::detector::DetectorSource::kEndless, options.seed);
  }
  return std::make_unique<data::larcv::LarcvSource>(
      data::larcv::LarcvOptions{.files = options.files,
                                .image_producer = options.image_producer,
                                .label_producer = options.label_producer});
}

}  // namespace

IoTestOptions::IoTestOptions()
    : image_producer(data::larcv::LarcvOptions().image_producer),
      label_producer(data::larcv::LarcvOptions().label_producer) {}

IoTestOptions iotest_options(const config::Configuration& configuration) {
  const config::DataConfig& data = configuration.data;
  COSMIC_REQUIRE(UserError, !data.synthetic,
                 "data=synthetic has no files to read (iotest measures reading, and making "
                 "events); use data=real "
                 "or data=detector");
  IoTestOptions options;
  options.detector = data.detector;
  if (!data.detector) {
    options.files = event_files(data, Stream::training);
  }
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
  options.augmentation = augmentation_of(data);
  return options;
}

double IoTest::busy_share() const {
  return (throughput.times.reading_seconds + throughput.times.converting_seconds) /
         (threads * throughput.seconds);
}

IoTest run_iotest(const IoTestOptions& options,
                  const std::function<void(data::BatchForm, const data::Throughput&)>& progress) {
  const std::unique_ptr<data::EventSource> source = source_of(options);
  const data::LoaderOptions loader = loader_options(options);
  const auto measured = [&](data::BatchForm form) {
    data::LoaderOptions in_form = loader;
    HandOver{.form = form}.set_up(in_form);
    const data::EventSamples samples(*source, {.dense = {.downsample = options.downsample},
                                               .augmentation = options.augmentation});
    return data::measure_throughput(
        samples, in_form, options.events,
        [&](const data::Throughput& so_far) { progress(form, so_far); });
  };
  IoTest test;
  test.throughput = measured(data::BatchForm::images);
  test.as_pixels = measured(data::BatchForm::pixels);
  if (!source->is_endless()) {
    test.entries = source->size();
  }
  test.shape = data::dense_shape(source->meta(), options.downsample);
  test.threads = loader.threads;
  return test;
}

}  // namespace cosmic::run
