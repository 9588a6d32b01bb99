#include "cli/some_events.hpp"

#include "cli/event_windows.hpp"
#include "core/error.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/loader/synthetic_batches.hpp"
#include "train/run_data.hpp"

namespace cosmic::cli {
namespace {

constexpr std::uint64_t kSeed = 1;

SomeEvents events_of_file(config::Configuration configuration, const data::EventSource& source,
                          std::int64_t events) {
  configuration.run.minibatch_size = events;
  data::BatchLoader loader(source, train::one_pass_options(configuration));
  const data::Batch* const batch = loader.next();
  COSMIC_REQUIRE(DataError, batch != nullptr,
                 source.description() << ": has no event from mode.start_index="
                                      << configuration.mode.start_index << " on; start earlier");
  return {{batch->images.begin(), batch->images.end()},
          {batch->labels.begin(), batch->labels.end()},
          source.description()};
}

SomeEvents noise(const data::DenseShape& shape, std::int64_t events) {
  data::SyntheticBatches batches({.batch = events, .shape = shape, .seed = kSeed});
  const data::Batch& batch = *batches.next();
  return {{batch.images.begin(), batch.images.end()},
          {batch.labels.begin(), batch.labels.end()},
          "noise"};
}

}  // namespace

SomeEvents some_events(const config::Configuration& configuration, const data::DenseShape& shape,
                       std::int64_t events) {
  if (train::has_events(configuration, train::Stream::training)) {
    const std::unique_ptr<data::EventSource> source = train::open_events(configuration);
    if (data::dense_shape(source->meta(), train::dense_options(configuration).downsample) ==
        shape) {
      return events_of_file(configuration, *source, events);
    }
  }
  if (configuration.data.synthetic) {
    return noise(shape, events);
  }
  SomeEvents result;
  EventWindows generated(shape.rows, shape.columns, kSeed);
  for (std::int64_t event = 0; event < events; ++event) {
    generated.append(event, result.images, result.labels);
  }
  result.origin = "generated events";
  return result;
}

}  // namespace cosmic::cli
