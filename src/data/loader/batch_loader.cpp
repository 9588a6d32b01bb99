#include "data/loader/batch_loader.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "data/augment.hpp"
#include "data/loader/numbered_stream.hpp"

namespace cosmic::data {
namespace {

/// Two batches are the least with which one is read while the other is used. Without threads there
/// is nothing to read ahead.
std::size_t ring_size(const LoaderOptions& options) {
  COSMIC_REQUIRE(
      UserError, options.threads >= 0,
      options.threads << " threads to read with; choose 0 (read in the thread that asks) "
                         "or more");
  COSMIC_REQUIRE(UserError, options.ring >= 2,
                 "a ring of " << options.ring
                              << " batches (one is in use, so none could be read ahead); choose 2 "
                                 "or more");
  return options.threads == 0 ? 1 : static_cast<std::size_t>(options.ring);
}

/// Does its work when it goes out of scope, also where something was thrown.
template <class Work>
struct AtEnd {
  Work work;
  ~AtEnd() { work(); }
};
template <class Work>
AtEnd(Work) -> AtEnd<Work>;

std::int64_t pixels_of(const SparseEvent& event) {
  std::size_t pixels = 0;
  for (const SparseImage* image : {&event.image, &event.labels}) {
    for (const SparsePlane& plane : *image) {
      pixels += plane.ids.size();
    }
  }
  return static_cast<std::int64_t>(pixels);
}

}  // namespace

/// The memory of one batch. Between being prepared and being filled, each position belongs to the
/// worker that holds its ticket; before and after, all of it to the caller.
struct BatchLoader::Slot {
  Slot(const DenseShape& shape, std::int64_t events)
      : images(static_cast<std::size_t>(events) * shape.event_pixels()),
        labels(images.size()),
        entries(static_cast<std::size_t>(events), kNoEntry),
        ids(static_cast<std::size_t>(events)) {
    const std::size_t pixels = shape.event_pixels();
    for (std::size_t event = 0; event < static_cast<std::size_t>(events); ++event) {
      dense.push_back({std::span(images).subspan(event * pixels, pixels),
                       std::span(labels).subspan(event * pixels, pixels)});
    }
    batch = {.shape = shape, .images = images, .labels = labels, .entries = entries, .ids = ids};
  }

  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  std::vector<std::int64_t> entries;
  std::vector<EventId> ids;
  std::vector<DenseImage> dense;
  Batch batch;
};

/// What one thread keeps from event to event.
struct BatchLoader::Worker {
  std::unique_ptr<EventReader> reader;
  DenseConverter converter;
  SparseEvent event;
};

BatchLoader::BatchLoader(const EventSource& source, const LoaderOptions& options,
                         const std::optional<OrderState>& state)
    : source_(source),
      options_(options),
      part_(local_part(options.batch, options.partition)),
      order_(options.order, source.size(), options.batch),
      shape_(dense_shape(source.meta(), options.dense.downsample)),
      next_sample_(state ? order_.resume(*state) : 0),
      prepared_sample_(next_sample_),
      chosen_(static_cast<std::size_t>(options.batch)),
      read_ahead_(options.threads, ring_size(options), part_.size(),
                  [this](std::size_t worker, std::size_t slot, std::int64_t position) {
                    serve(worker, slot, position);
                  }) {
  ring_.reserve(read_ahead_.slots());
  for (std::size_t slot = 0; slot < read_ahead_.slots(); ++slot) {
    ring_.emplace_back(shape_, part_.size());
  }
  const int workers = std::max(options.threads, 1);
  workers_.reserve(static_cast<std::size_t>(workers));
  for (int worker = 0; worker < workers; ++worker) {
    workers_.push_back({source.reader(), DenseConverter(source.meta(), options.dense), {}});
  }
  // Without threads, next() prepares the one slot when the caller is done with what it holds.
  for (std::size_t slot = 0; slot < read_ahead_.slots() && options.threads > 0; ++slot) {
    prepare_next_slot();
  }
}

BatchLoader::~BatchLoader() = default;

/// Chooses the entries of the next batch and lets the workers begin with it.
void BatchLoader::prepare_next_slot() {
  const std::int64_t valid = order_.select(prepared_sample_, chosen_);
  if (valid == 0) {
    return;
  }
  Slot& slot = ring_[read_ahead_.next_slot()];
  std::copy(chosen_.begin() + part_.begin, chosen_.begin() + part_.end, slot.entries.begin());
  slot.batch.valid = std::clamp<std::int64_t>(valid - part_.begin, 0, part_.size());
  slot.batch.first_sample = prepared_sample_;
  slot.batch.epoch = prepared_sample_ / order_.entries();
  prepared_sample_ += options_.batch;
  read_ahead_.prepare();
}

const Batch* BatchLoader::next() {
  const Stopwatch watch;
  // The slot that was handed out last is free now; at the first call none was.
  if (handed_out_ || options_.threads == 0) {
    prepare_next_slot();
  }
  if (read_ahead_.pending() == 0) {
    return nullptr;
  }
  handed_out_ = true;
  const AtEnd count_waiting{[&] {
    const std::lock_guard lock(times_mutex_);
    times_.waiting_seconds += watch.seconds();
  }};
  const Slot& slot = ring_[read_ahead_.take()];
  next_sample_ = slot.batch.first_sample + options_.batch;
  return &slot.batch;
}

LoaderTimes BatchLoader::times() const {
  const std::lock_guard lock(times_mutex_);
  return times_;
}

void BatchLoader::serve(std::size_t worker, std::size_t slot, std::int64_t position) {
  LoaderTimes spent;
  const AtEnd count{[&] {
    const std::lock_guard lock(times_mutex_);
    times_.reading_seconds += spent.reading_seconds;
    times_.converting_seconds += spent.converting_seconds;
    times_.events += spent.events;
    times_.pixels += spent.pixels;
  }};
  read_into(workers_[worker], ring_[slot], position, spent);
}

void BatchLoader::read_into(Worker& worker, Slot& slot, std::int64_t position, LoaderTimes& spent) {
  const auto at = static_cast<std::size_t>(position);
  const std::int64_t entry = slot.entries[at];
  if (entry == kNoEntry) {
    slot.dense[at].clear();
    slot.ids[at] = {};
    return;
  }
  Stopwatch watch;
  worker.reader->read(entry, worker.event);
  spent.reading_seconds = watch.seconds();
  spent.pixels = pixels_of(worker.event);
  spent.events = 1;
  watch.restart();
  slot.ids[at] = worker.event.id;
  try {
    if (options_.augmentation == Augmentation::flips) {
      // By the number of the sample among all ranks', so that ranks together do what one would.
      const std::int64_t sample = slot.batch.first_sample + part_.begin + position;
      RandomStream random = numbered_stream(options_.order.seed, "flips of sample", sample);
      flip(worker.event, random_flips(random));
    }
    worker.converter.convert(worker.event, slot.dense[at]);
  } catch (const DataError& error) {
    throw DataError(event_text(source_, entry) + ": " + error.what());
  }
  spent.converting_seconds = watch.seconds();
}

}  // namespace cosmic::data
