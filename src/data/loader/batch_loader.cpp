#include "data/loader/batch_loader.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "core/stopwatch.hpp"

namespace cosmic::data {
namespace {

std::int64_t checked_samples(const LoaderOptions& options) {
  COSMIC_REQUIRE(UserError, options.batch >= 1 && options.micro_batches >= 1,
                 "a call of " << options.micro_batches << " batches of " << options.batch
                              << " samples holds nothing; choose 1 or more of each");
  return options.samples();
}

/// One more than are in use is the least with which one is read meanwhile. Without threads there is
/// nothing to read ahead.
std::size_t ring_size(const LoaderOptions& options) {
  COSMIC_REQUIRE(
      UserError, options.threads >= 0,
      options.threads << " threads to read with; choose 0 (read in the thread that asks) "
                         "or more");
  COSMIC_REQUIRE(UserError, options.ring >= 2,
                 "a ring of " << options.ring
                              << " batches (one is in use, so none could be read ahead); choose 2 "
                                 "or more");
  COSMIC_ASSERT(options.in_use >= 1);
  return static_cast<std::size_t>(
      options.threads == 0 ? options.in_use : std::max(options.ring, options.in_use + 1));
}

BatchMemory ordinary_memory(std::size_t bytes) {
  return {std::shared_ptr<std::byte>(new std::byte[bytes], std::default_delete<std::byte[]>()),
          false};
}

/// Each part of a batch of pixels begins where a machine likes to fetch.
template <class Element>
std::size_t part_bytes(std::size_t elements) {
  constexpr std::size_t kAlignment = 256;
  return (elements * sizeof(Element) + kAlignment - 1) / kAlignment * kAlignment;
}

/// Does its work when it goes out of scope, also where something was thrown.
template <class Work>
struct AtEnd {
  Work work;
  ~AtEnd() { work(); }
};
template <class Work>
AtEnd(Work) -> AtEnd<Work>;

}  // namespace

/// The memory of one batch. Between being prepared and being filled, each position belongs to the
/// worker that holds its ticket; before and after, all of it to the caller.
struct BatchLoader::Slot {
  Slot(const SampleSource& source, std::int64_t samples, const LoaderOptions& options)
      : make_memory(options.memory ? options.memory : ordinary_memory),
        entries(static_cast<std::size_t>(samples), kNoEntry),
        ids(static_cast<std::size_t>(samples)) {
    if (options.form == BatchForm::pixels) {
      pixels.resize(entries.size());
    } else {
      images.resize(entries.size() * source.image_elements());
      labels.resize(entries.size() * source.label_elements());
    }
    batch = {.images = images, .labels = labels, .entries = entries, .ids = ids};
  }

  /// Puts the pixels of all samples together, in memory that goes to a machine.
  void pack();

  std::function<BatchMemory(std::size_t bytes)> make_memory;
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  std::vector<EventPixels> pixels;    ///< of each sample, if these are asked for
  std::atomic<std::size_t> unread{};  ///< samples; whoever reads the last puts them together
  BatchMemory memory;
  std::size_t memory_bytes = 0;
  std::vector<std::int64_t> entries;
  std::vector<EventId> ids;
  Batch batch;
};

void BatchLoader::Slot::pack() {
  std::size_t charges = 0;
  std::size_t labelled = 0;
  for (const EventPixels& sample : pixels) {
    charges += sample.charge.places.size();
    labelled += sample.label.places.size();
  }
  const std::size_t firsts = pixels.size() + 1;
  const std::size_t needed = 2 * part_bytes<std::int64_t>(firsts) +
                             part_bytes<std::int32_t>(charges) + part_bytes<float>(charges) +
                             part_bytes<std::int32_t>(labelled) +
                             part_bytes<std::uint8_t>(labelled);
  if (needed > memory_bytes) {
    memory_bytes = needed + needed / 2;  // batches differ; a few of them find the size of all
    memory = make_memory(memory_bytes);
  }
  std::byte* free = memory.bytes.get();
  const auto part = [&free]<class Value>(std::size_t count, const Value* /*of*/) {
    const std::span<Value> result(reinterpret_cast<Value*>(free), count);
    free += part_bytes<Value>(count);
    return result;
  };
  const auto put_together = [&]<class Value>(PixelList<Value> EventPixels::*list,
                                             std::size_t count) {
    const auto first = part(firsts, static_cast<std::int64_t*>(nullptr));
    const auto places = part(count, static_cast<std::int32_t*>(nullptr));
    const auto values = part(count, static_cast<Value*>(nullptr));
    std::size_t at = 0;
    for (std::size_t sample = 0; sample < pixels.size(); ++sample) {
      first[sample] = static_cast<std::int64_t>(at);
      const PixelList<Value>& from = pixels[sample].*list;
      std::copy(from.places.begin(), from.places.end(), places.begin() + std::ptrdiff_t(at));
      std::copy(from.values.begin(), from.values.end(), values.begin() + std::ptrdiff_t(at));
      at += from.places.size();
    }
    first[pixels.size()] = static_cast<std::int64_t>(at);
    return BatchPixels<Value>{first, places, values};
  };
  batch.image_pixels = put_together(&EventPixels::charge, charges);
  batch.label_pixels = put_together(&EventPixels::label, labelled);
  batch.pinned = memory.pinned;
}

BatchLoader::BatchLoader(const SampleSource& source, const LoaderOptions& options,
                         const std::optional<OrderState>& state)
    : source_(source),
      options_(options),
      part_(local_part(options.batch, options.partition)),
      order_(options.order, source.size(), checked_samples(options)),
      next_sample_(state ? order_.resume(*state) : 0),
      prepared_sample_(next_sample_),
      chosen_(static_cast<std::size_t>(options.samples())),
      read_ahead_(options.threads, ring_size(options), part_.size() * options.micro_batches,
                  [this](std::size_t worker, std::size_t slot, std::int64_t position) {
                    fill(worker, *ring_[slot], position);
                  }) {
  COSMIC_REQUIRE(InternalError, options.form == BatchForm::images || source.has_pixels(),
                 "pixels were asked for from " << source.description() << ", which has none");
  if (options.form == BatchForm::images) {
    require_host_memory(memory_bytes(), "the " + std::to_string(read_ahead_.slots()) +
                                            " batches of " + std::to_string(part_.size()) +
                                            " events that are in memory at a time");
  }
  ring_.reserve(read_ahead_.slots());
  for (std::size_t slot = 0; slot < read_ahead_.slots(); ++slot) {
    ring_.push_back(std::make_unique<Slot>(source, part_.size() * options.micro_batches, options_));
  }
  for (int worker = 0; worker < std::max(options.threads, 1); ++worker) {
    readers_.push_back(source.reader());
  }
  // Without threads, next() prepares a slot when the caller is done with what it holds.
  for (std::size_t slot = 0; slot < read_ahead_.slots() && options.threads > 0; ++slot) {
    prepare_next_slot();
  }
}

BatchLoader::~BatchLoader() = default;

std::int64_t BatchLoader::memory_bytes() const {
  if (options_.form == BatchForm::pixels) {
    return 0;
  }
  const auto sample = static_cast<std::int64_t>(source_.image_elements() * sizeof(float) +
                                                source_.label_elements());
  return static_cast<std::int64_t>(read_ahead_.slots()) * part_.size() * options_.micro_batches *
         sample;
}

/// Where a sample of this rank stands in the call of all ranks.
std::int64_t BatchLoader::place_in_call(std::int64_t position) const {
  return position / part_.size() * options_.batch + part_.begin + position % part_.size();
}

/// Chooses the entries of the next batch and lets the workers begin with it.
void BatchLoader::prepare_next_slot() {
  if (order_.select(prepared_sample_, chosen_) == 0) {
    return;
  }
  Slot& slot = *ring_[read_ahead_.next_slot()];
  slot.unread = slot.entries.size();
  for (std::size_t position = 0; position < slot.entries.size(); ++position) {
    const std::int64_t place = place_in_call(static_cast<std::int64_t>(position));
    slot.entries[position] = chosen_[static_cast<std::size_t>(place)];
  }
  const auto padding = std::find(slot.entries.begin(), slot.entries.end(), kNoEntry);
  slot.batch.valid = padding - slot.entries.begin();
  slot.batch.first_sample = prepared_sample_;
  slot.batch.epoch = prepared_sample_ / order_.entries();
  prepared_sample_ = order_.sample_after(prepared_sample_);
  if (options_.threads == 0) {  // the slot is filled right away, by one reader
    readers_.front()->expect(
        std::span(slot.entries).first(static_cast<std::size_t>(slot.batch.valid)));
  }
  read_ahead_.prepare();
}

const Batch* BatchLoader::next() {
  if (epoch_ended_) {
    epoch_ended_ = false;
    return nullptr;
  }
  const Stopwatch watch;
  // The oldest slot in use is free now; the first calls have none.
  if (handed_out_ >= options_.in_use || options_.threads == 0) {
    prepare_next_slot();
  }
  if (read_ahead_.pending() == 0) {
    return nullptr;
  }
  ++handed_out_;
  const AtEnd count_waiting{[&] {
    const std::lock_guard lock(times_mutex_);
    times_.waiting_seconds += watch.seconds();
  }};
  const Slot& slot = *ring_[read_ahead_.oldest_slot()];
  epoch_ended_ = order_.ends_epoch(slot.batch.first_sample);
  try {
    read_ahead_.take();
  } catch (...) {
    tell(Told::found_or_grown);  // whoever stops here has heard all the same
    throw;
  }
  next_sample_ = order_.sample_after(slot.batch.first_sample);
  if (options_.order.passes != Passes::one) {
    tell(Told::found);
  }
  return &slot.batch;
}

/// Kinds that were not told yet and, if asked for, those that became more since.
void BatchLoader::tell(Told which) {
  const std::uint64_t count = source_.note_count();
  if (!options_.warn || (which == Told::found && count == known_count_)) {
    return;
  }
  known_count_ = count;
  for (const ReadNote& note : source_.notes()) {
    const auto told = std::find_if(told_.begin(), told_.end(),
                                   [&](const ReadNote& one) { return one.what == note.what; });
    if (told == told_.end()) {
      options_.warn("Reading found " + to_text(note));
      told_.push_back(note);
    } else if (which == Told::found_or_grown && told->count != note.count) {
      options_.warn("Reading found, in all, " + to_text(note));
      told->count = note.count;
    }
  }
}

std::vector<ReadNote> BatchLoader::finish() {
  tell(Told::found_or_grown);
  source_.require_content();
  return source_.notes();
}

LoaderTimes BatchLoader::times() const {
  const std::lock_guard lock(times_mutex_);
  return times_;
}

void BatchLoader::fill(std::size_t worker, Slot& slot, std::int64_t position) {
  if (options_.form == BatchForm::images) {
    read(worker, slot, position);
    return;
  }
  std::exception_ptr error;
  try {
    read(worker, slot, position);
  } catch (...) {
    error = std::current_exception();
  }
  // Also where one could not be read: that batch is lost, and nobody looks at it.
  if (slot.unread.fetch_sub(1) == 1) {
    slot.pack();
  }
  if (error != nullptr) {
    std::rethrow_exception(error);
  }
}

void BatchLoader::read(std::size_t worker, Slot& slot, std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  const bool as_pixels = options_.form == BatchForm::pixels;
  const std::size_t pixels = as_pixels ? 0 : source_.image_elements();
  const std::size_t labels = as_pixels ? 0 : source_.label_elements();
  const std::span<float> image = std::span(slot.images).subspan(at * pixels, pixels);
  const std::span<std::uint8_t> label = std::span(slot.labels).subspan(at * labels, labels);
  if (slot.entries[at] == kNoEntry) {
    std::fill(image.begin(), image.end(), 0.0F);
    std::fill(label.begin(), label.end(), std::uint8_t{0});
    if (as_pixels) {
      slot.pixels[at].clear();
    }
    slot.ids[at] = {};
    return;
  }
  // By the number of the sample among all ranks', so that ranks together do what one would.
  const SampleRequest request{.entry = slot.entries[at],
                              .number = slot.batch.first_sample + place_in_call(position),
                              .seed = options_.order.seed};
  SampleReader& reader = *readers_[worker];
  const SampleFacts facts =
      as_pixels ? reader.read_pixels(request, slot.pixels[at]) : reader.read(request, image, label);
  slot.ids[at] = facts.id;
  const std::lock_guard lock(times_mutex_);
  times_.reading_seconds += facts.reading_seconds;
  times_.converting_seconds += facts.converting_seconds;
  times_.pixels += facts.pixels;
  times_.events += 1;
}

}  // namespace cosmic::data
