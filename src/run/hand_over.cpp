#include "run/hand_over.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.hpp"

namespace cosmic::run {
namespace {

/// So many that each thread that reads ahead has two events to work on, and none waits for others.
int calls_for_threads(const data::LoaderOptions& options) {
  const std::int64_t events = 2 * static_cast<std::int64_t>(std::max(options.threads, 1));
  return static_cast<int>((events - 1) / options.samples() + 1);
}

target::SparsePixels sparse_pixels(const auto& pixels) {
  return {pixels.first, pixels.places, std::as_bytes(pixels.values)};
}

/// The part of a buffer that comes next, on a boundary that machines like.
template <class Element>
std::span<Element> take(std::span<std::byte>& free, std::size_t count) {
  constexpr std::size_t kAlignment = 256;
  const std::span<Element> part(reinterpret_cast<Element*>(free.data()), count);
  free = free.subspan((count * sizeof(Element) + kAlignment - 1) / kAlignment * kAlignment);
  return part;
}

/// What take() needs for the pixels of so many events.
std::int64_t room_for(std::size_t events, std::size_t pixels, std::size_t bytes_of_value) {
  constexpr std::size_t kBoundaries = std::size_t{3} * 256;
  return static_cast<std::int64_t>((events + 1) * sizeof(std::int64_t) +
                                   pixels * (sizeof(std::int32_t) + bytes_of_value) + kBoundaries);
}

template <class Element>
std::size_t pixels_in(std::span<const Element> elements) {
  return elements.size() -
         static_cast<std::size_t>(std::count(elements.begin(), elements.end(), Element{0}));
}

template <class Element>
target::SparsePixels write_pixels(std::span<const Element> images, std::size_t events,
                                  const target::HostBuffer& memory) {
  std::span<std::byte> free = memory.bytes();
  const std::size_t pixels = pixels_in(images);
  const auto first = take<std::int64_t>(free, events + 1);
  const auto places = take<std::int32_t>(free, pixels);
  const auto values = take<Element>(free, pixels);
  const std::size_t size = events == 0 ? 0 : images.size() / events;
  std::size_t at = 0;
  first[0] = 0;
  for (std::size_t event = 0; event < events; ++event) {
    for (std::size_t pixel = 0; pixel < size; ++pixel) {
      const Element value = images[event * size + pixel];
      if (value != Element{0}) {
        places[at] = static_cast<std::int32_t>(pixel);
        values[at++] = value;
      }
    }
    first[event + 1] = static_cast<std::int64_t>(at);
  }
  return {first, places, std::as_bytes(values)};
}

}  // namespace

int ring_for_making(const data::LoaderOptions& options) {
  return std::max(options.ring, options.in_use + calls_for_threads(options));
}

void HandOver::set_up(data::LoaderOptions& options) const {
  options.form = form;
  options.memory = memory;
  options.in_use = in_use;
  if (form == data::BatchForm::pixels) {
    options.ring = std::max(options.ring, in_use + calls_for_threads(options));
  }
}

HandOver hand_over(const session::CompiledModel& model, Calls calls, std::int64_t batches) {
  HandOver result;
  if (!model.prefers_pixels()) {
    return result;
  }
  result.form = data::BatchForm::pixels;
  result.ahead = calls == Calls::overlapping;
  result.in_use = static_cast<int>(batches) * (result.ahead ? 2 : 1);
  result.memory = [&model](std::size_t bytes) {
    // Shared with the batches that lie in it.
    const auto buffer =
        std::make_shared<target::HostBuffer>(model.host_buffer(static_cast<std::int64_t>(bytes)));
    return data::BatchMemory{std::shared_ptr<std::byte>(buffer, buffer->bytes().data()),
                             buffer->memory() == target::HostMemory::pinned};
  };
  return result;
}

session::SparseBatch sparse_batch(const data::Batch& batch) {
  COSMIC_ASSERT(batch.form() == data::BatchForm::pixels);
  return {sparse_pixels(batch.image_pixels), sparse_pixels(batch.label_pixels),
          batch.pinned ? target::HostMemory::pinned : target::HostMemory::pageable};
}

PixelsOf::PixelsOf(std::span<const float> images, std::span<const std::uint8_t> labels,
                   std::int64_t events, std::int64_t batches, const session::CompiledModel& model) {
  // An index and a value take twice the room of a float.
  if (!model.prefers_pixels() || 2 * pixels_in(images) > images.size()) {
    return;
  }
  const auto count = static_cast<std::size_t>(events);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const std::span<const float> image = session::micro_batch(images, batch, batches);
    const std::span<const std::uint8_t> label = session::micro_batch(labels, batch, batches);
    memory_.push_back(model.host_buffer(room_for(count, pixels_in(image), sizeof(float))));
    memory_.push_back(model.host_buffer(room_for(count, pixels_in(label), 1)));
    const target::HostBuffer& of_image = memory_[memory_.size() - 2];
    const target::HostBuffer& of_label = memory_.back();
    const bool pinned = of_image.memory() == target::HostMemory::pinned &&
                        of_label.memory() == target::HostMemory::pinned;
    batches_.push_back({write_pixels(image, count, of_image), write_pixels(label, count, of_label),
                        pinned ? target::HostMemory::pinned : target::HostMemory::pageable});
  }
}

}  // namespace cosmic::run
