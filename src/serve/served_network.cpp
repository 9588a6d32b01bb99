#include "serve/served_network.hpp"

#include "checkpoint/checkpoint_folder.hpp"
#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "run/run_data.hpp"
#include "run/weights.hpp"
#include "serve/network_runner.hpp"

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

/// Compiled, and tried once with each batch size.
std::unique_ptr<BatchRunner> warm_runner(const NetworkChoices& choices,
                                         const checkpoint::Checkpoint& weights, int threads,
                                         int device) {
  auto runner = std::make_unique<NetworkRunner>(choices, weights, threads, device);
  EventWork nothing;
  for (data::SparsePlane& plane : nothing.image) {
    plane.meta = choices.grid;
  }
  EventWork* const only = &nothing;
  const Wanted wanted{.pixels = true};
  for (const std::int64_t size : runner->batch_sizes()) {
    runner->run(std::span(&only, 1), std::span(&wanted, 1), size);
    COSMIC_REQUIRE(DataError, !nothing.refusal,
                   "the weights give scores that are not finite, even for an event without a pixel "
                   "(nothing could be tagged); take an earlier checkpoint");
  }
  return runner;
}

}  // namespace

std::shared_ptr<const ServedModel> serve_network(
    const ModelSource& source, const config::Configuration& configuration,
    const ServingTarget& target, const ServingOptions& options, ComputeSlots& slots,
    const std::function<void(const std::string&)>& warn) {
  const checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(source.weights);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    warn(warning.file.string() + ": " + warning.reason);
  }
  const std::vector<config::Contradiction> insisted =
      run::check_settings(loaded, {configuration, config::Command::infer}, warn);
  if (!insisted.empty()) {
    warn(config::insistence_on(insisted, loaded.file.string()));
  }
  const data::DenseOptions image_options = run::dense_options(configuration);
  const NetworkChoices choices{configuration, target.name, options.grid, options.batch_sizes};
  return std::make_shared<const ServedModel>(
      ModelIdentity{.name = source.name,
                    .version = source.version,
                    .fingerprint = fingerprint_of(loaded.checkpoint, image_options),
                    .step = loaded.checkpoint.step,
                    .target = target.name,
                    .provenance = target.provenance,
                    .image_producer = configuration.data.image_producer,
                    .image_options = image_options},
      options, slots, [&](int replica) {
        const int device =
            options.devices[static_cast<std::size_t>(replica) % options.devices.size()];
        return warm_runner(choices, loaded.checkpoint, options.threads, device);
      });
}

}  // namespace cosmic::serve
