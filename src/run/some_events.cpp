#include "run/some_events.hpp"

#include <utility>

#include "core/error.hpp"
#include "data/detector/event_windows.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/synthetic_batches.hpp"
#include "graph/tensor_type.hpp"
#include "run/run_data.hpp"

namespace cosmic::run {
namespace {

constexpr std::uint64_t kSeed = 1;

SomeEvents events_of_file(config::Configuration configuration, const data::EventSource& source,
                          std::int64_t events) {
  configuration.run.minibatch_size = events;
  std::vector<std::string> warnings;
  const data::EventSamples samples = one_pass_samples(source, configuration);
  data::BatchLoader loader(samples, one_pass_options(configuration, [&](const std::string& text) {
                             warnings.push_back(text);
                           }));
  const data::Batch* const batch = loader.next();
  COSMIC_REQUIRE(DataError, batch != nullptr,
                 source.description() << ": has no events from mode.start_index="
                                      << configuration.mode.start_index << " on; start earlier");
  SomeEvents some{{batch->images.begin(), batch->images.end()},
                  {batch->labels.begin(), batch->labels.end()},
                  source.description(),
                  {}};
  loader.finish();
  some.warnings = std::move(warnings);
  return some;
}

SomeEvents noise(const data::DenseShape& shape, std::int64_t events) {
  data::SyntheticBatches batches({.batch = events, .shape = shape, .seed = kSeed});
  const data::Batch& batch = *batches.next();
  return {{batch.images.begin(), batch.images.end()},
          {batch.labels.begin(), batch.labels.end()},
          "noise",
          {}};
}

}  // namespace

SomeEvents some_events(const config::Configuration& configuration, const data::DenseShape& shape,
                       std::int64_t events) {
  if (has_events(configuration, Stream::training)) {
    const std::unique_ptr<data::EventSource> source = open_events(configuration);
    if (data::dense_shape(source->meta(), dense_options(configuration).downsample) == shape) {
      return events_of_file(configuration, *source, events);
    }
  }
  if (configuration.data.synthetic) {
    return noise(shape, events);
  }
  SomeEvents result;
  // All at once: what no memory holds is known before the first event is made.
  const std::int64_t pixels = graph::TensorType{
      graph::DType::u8,
      {events, data::kPlanes, shape.rows,
       shape.columns}}.elements();
  result.images.reserve(static_cast<std::size_t>(pixels));
  result.labels.reserve(static_cast<std::size_t>(pixels));
  data::detector::EventWindows generated(shape.rows, shape.columns, kSeed);
  for (std::int64_t event = 0; event < events; ++event) {
    generated.append(event, result.images, result.labels);
  }
  result.origin = "generated events";
  return result;
}

}  // namespace cosmic::run
