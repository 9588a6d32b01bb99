#include "data/loader/synthetic_batches.hpp"

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "core/random.hpp"

namespace cosmic::data {
namespace {

constexpr std::int64_t kLeastImages = 12;
constexpr std::uint64_t kLabels = 3;

}  // namespace

SyntheticBatches::SyntheticBatches(const SyntheticOptions& options)
    : options_(options), images_(std::max(kLeastImages, options.batch)) {
  COSMIC_REQUIRE(UserError,
                 options.batch > 0 && options.shape.rows > 0 && options.shape.columns > 0,
                 "synthetic batches of " << options.batch << " events of " << options.shape.rows
                                         << " rows and " << options.shape.columns
                                         << " columns are empty; choose 1 or more of each");
  const std::size_t pixels = static_cast<std::size_t>(images_) * options.shape.event_pixels();
  require_host_memory(memory_bytes(), "noise for " + std::to_string(images_) + " events");
  charge_.resize(pixels);
  labels_.resize(pixels);
  RandomStream charges(options.seed, "synthetic images");
  RandomStream classes(options.seed, "synthetic labels");
  // 24 bits are what a float in [0, 1) has; more could be rounded up to 1.
  constexpr int kDroppedBits = 64 - 24;
  std::generate(charge_.begin(), charge_.end(),
                [&] { return static_cast<float>(charges.next() >> kDroppedBits) * 0x1p-24F; });
  std::generate(labels_.begin(), labels_.end(),
                [&] { return static_cast<std::uint8_t>(classes.next() % kLabels); });
  entries_.resize(static_cast<std::size_t>(images_));
  std::iota(entries_.begin(), entries_.end(), std::int64_t{0});
  ids_.resize(static_cast<std::size_t>(options.batch));
  batch_.ids = ids_;
  batch_.valid = options.batch;
  batch_.first_sample = -options.batch;
}

std::int64_t SyntheticBatches::memory_bytes() const {
  return images_ * static_cast<std::int64_t>(options_.shape.event_pixels() *
                                             (sizeof(float) + sizeof(std::uint8_t)));
}

const Batch* SyntheticBatches::next() {
  const auto first = static_cast<std::size_t>(first_);
  const auto events = static_cast<std::size_t>(options_.batch);
  const std::size_t pixels = options_.shape.event_pixels();
  batch_.images = std::span(charge_).subspan(first * pixels, events * pixels);
  batch_.labels = std::span(labels_).subspan(first * pixels, events * pixels);
  batch_.entries = std::span(entries_).subspan(first, events);
  batch_.first_sample += options_.batch;
  batch_.epoch = batch_.first_sample / epoch_size();
  first_ = first_ + options_.batch < images_ ? first_ + 1 : 0;
  return &batch_;
}

}  // namespace cosmic::data
