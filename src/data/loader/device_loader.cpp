#include "data/loader/device_loader.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

std::int64_t count_batches(const SampleSource& source, const DeviceLoaderOptions& options) {
  COSMIC_REQUIRE(
      UserError, options.micro_batch >= 1 && options.micro_batches >= 1,
      "a call of " << options.micro_batches << " micro-batches of " << options.micro_batch
                   << " samples (both must be at least 1); check batch size and options");
  const std::int64_t samples = options.samples();
  if (options.rest == Rest::pad) {
    return (source.size() + samples - 1) / samples;
  }
  COSMIC_REQUIRE(UserError, source.size() >= samples,
                 "a call takes " << samples << " samples (" << options.micro_batches
                                 << " micro-batches of " << options.micro_batch << "), but "
                                 << source.description() << " has " << source.size()
                                 << ", so all would be dropped; use a smaller batch, or pad");
  return source.size() / samples;
}

/// One call in use and one read ahead are the least with which threads have anything to do.
std::size_t ring_size(const DeviceLoaderOptions& options) {
  COSMIC_REQUIRE(UserError, options.threads >= 0,
                 options.threads << " threads to read with (there can be none, but not fewer); "
                                    "choose 0 to read in the thread that asks");
  COSMIC_REQUIRE(UserError, options.ring >= 2,
                 "a ring of " << options.ring
                              << " calls (one is in use, so none could be read ahead); choose 2 or "
                                 "more");
  return options.threads == 0 ? 1 : static_cast<std::size_t>(options.ring);
}

OrderOptions order_options(const DeviceLoaderOptions& options) {
  return {.kind = options.shuffle == Shuffle::yes ? OrderKind::shuffled : OrderKind::serial_access,
          .passes = Passes::endless,
          .seed = options.seed};
}

}  // namespace

DeviceLoader::DeviceLoader(const SampleSource& source, const DeviceLoaderOptions& options)
    : source_(source),
      options_(options),
      batches_per_epoch_(count_batches(source, options)),
      order_(order_options(options), source.size(), options.samples()),
      read_ahead_(options.threads, ring_size(options), options.samples(),
                  [this](std::size_t worker, std::size_t slot, std::int64_t position) {
                    fill(worker, ring_[slot], position);
                  }) {
  const auto samples = static_cast<std::size_t>(options.samples());
  ring_.resize(read_ahead_.slots());
  for (Slot& slot : ring_) {
    slot.images.resize(samples * source.image_elements());
    slot.labels.resize(samples * source.label_elements());
    slot.samples.resize(samples);
    slot.batch = {slot.images, slot.labels, slot.samples};
  }
  for (int thread = 0; thread < std::max(options.threads, 1); ++thread) {
    readers_.push_back(source.reader());
  }
  // Without threads, next() prepares the one slot when the caller is done with what it holds.
  for (std::size_t slot = 0; slot < ring_.size() && options.threads > 0; ++slot) {
    prepare_next_slot();
  }
}

void DeviceLoader::prepare_next_slot() {
  Slot& slot = ring_[read_ahead_.next_slot()];
  const std::int64_t epoch = prepared_ / batches_per_epoch_;
  const std::int64_t in_epoch = prepared_ % batches_per_epoch_ * options_.samples();
  order_.select(epoch * source_.size() + in_epoch, slot.samples);
  // The order goes on with the next epoch; a batch does not.
  slot.batch.valid = std::min(options_.samples(), source_.size() - in_epoch);
  std::fill(slot.samples.begin() + slot.batch.valid, slot.samples.end(), kNoEntry);
  slot.batch.epoch = epoch;
  ++prepared_;
  if (options_.threads == 0) {  // the slot is filled right away, by one reader
    readers_.front()->expect(
        std::span(slot.samples).first(static_cast<std::size_t>(slot.batch.valid)));
  }
  read_ahead_.prepare();
}

const DeviceBatch* DeviceLoader::next() {
  if (handed_out_ > 0 && handed_out_ % batches_per_epoch_ == 0 && !epoch_ended_) {
    epoch_ended_ = true;
    return nullptr;
  }
  epoch_ended_ = false;
  // The slot that was handed out last is free now; at the first call none was.
  if (handed_out_ > 0 || options_.threads == 0) {
    prepare_next_slot();
  }
  ++handed_out_;
  return &ring_[read_ahead_.take()].batch;
}

void DeviceLoader::fill(std::size_t worker, Slot& slot, std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  const std::size_t pixels = source_.image_elements();
  const std::size_t labels = source_.label_elements();
  const std::span<float> image = std::span(slot.images).subspan(at * pixels, pixels);
  const std::span<std::uint8_t> label = std::span(slot.labels).subspan(at * labels, labels);
  const std::int64_t sample = slot.samples[at];
  if (sample == kNoEntry) {
    std::fill(image.begin(), image.end(), 0.0F);
    std::fill(label.begin(), label.end(), std::uint8_t{0});
    return;
  }
  try {
    readers_[worker]->read(sample, image, label);
  } catch (const DataError& error) {
    throw DataError("sample " + std::to_string(sample) + " of " + source_.description() + ": " +
                    error.what());
  }
}

}  // namespace cosmic::data
