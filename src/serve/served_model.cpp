#include "serve/served_model.hpp"

#include "checkpoint/checkpoint_folder.hpp"
#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "run/run_data.hpp"
#include "run/weights.hpp"

namespace cosmic::serve {
namespace {

std::string fingerprint_of(const checkpoint::Checkpoint& checkpoint,
                           const data::DenseOptions& image) {
  ContentHash hash;
  for (const auto& [name, tensor] : checkpoint::weights_of(checkpoint)) {
    hash.add(name);
    hash.add(std::span<const std::byte>(tensor.bytes));
  }
  hash.add(static_cast<std::uint64_t>(image.downsample));
  hash.add(static_cast<std::uint64_t>(image.scale));
  return hash.text();
}

}  // namespace

ServedModel::ServedModel(const ModelSource& source, const config::Configuration& configuration,
                         const std::string& target, const ServingOptions& options,
                         ComputeSlots& slots, const Warn& warn)
    : name_(source.name),
      version_(source.version),
      options_(options),
      target_(target),
      image_producer_(configuration.data.image_producer),
      image_options_(run::dense_options(configuration)),
      shape_(data::dense_shape(options.grid, image_options_.downsample)) {
  const checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(source.weights);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    warn(warning.file.string() + ": " + warning.reason);
  }
  const std::vector<config::Contradiction> insisted =
      run::check_settings(loaded, {configuration, config::Command::infer}, warn);
  if (!insisted.empty()) {
    warn(config::insistence_on(insisted, loaded.file.string()));
  }
  step_ = loaded.checkpoint.step;
  fingerprint_ = fingerprint_of(loaded.checkpoint, image_options_);
  const NetworkChoices choices{configuration, target, options.grid, options.batch_sizes};
  scheduler_ = std::make_unique<Scheduler>(
      SchedulerOptions{
          .replicas = options.replicas,
          .queue_events = options.queue_events,
          .delay = options.delay,
          .slots = &slots,
          .ran = [this](std::int64_t size, std::int64_t,
                        const BatchTimes& times) { statistics_.add_batch(size, times); }},
      [&](int replica) -> std::unique_ptr<BatchRunner> {
        const int device =
            options.devices[static_cast<std::size_t>(replica) % options.devices.size()];
        auto runner =
            std::make_unique<NetworkRunner>(choices, loaded.checkpoint, options.threads, device);
        EventWork nothing;
        for (data::SparsePlane& plane : nothing.image) {
          plane.meta = options.grid;
        }
        EventWork* const only = &nothing;
        const Wanted wanted{.pixels = true};
        for (const std::int64_t size : runner->batch_sizes()) {
          runner->run(std::span(&only, 1), std::span(&wanted, 1), size);
          COSMIC_REQUIRE(DataError, !nothing.refusal,
                         "the weights give scores that are not finite, even for an event without "
                         "a pixel (nothing could be tagged); take an earlier checkpoint");
        }
        return runner;
      });
}

void ServedModel::tag(const std::shared_ptr<TaggingCall>& call,
                      const std::function<bool()>& cancelled) const {
  const Stopwatch watch;
  try {
    scheduler_->tag(call, cancelled);
    for (const EventWork& event : call->events) {
      if (event.refusal) {
        throw *event.refusal;
      }
    }
  } catch (const Refusal& refusal) {
    statistics_.add_failure(refusal.reason(), watch.seconds());
    throw;
  }
  statistics_.add_success(call->times, watch.seconds(), call->events.size());
}

}  // namespace cosmic::serve
