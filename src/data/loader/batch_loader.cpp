#include "data/loader/batch_loader.hpp"

#include <algorithm>
#include <utility>

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

  // Guarded by the loader's mutex.
  std::int64_t filled = 0;  ///< events
  std::exception_ptr error;
  std::int64_t error_position = 0;
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
      chosen_(static_cast<std::size_t>(options.batch)) {
  const std::size_t slots = ring_size(options);
  ring_.reserve(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    ring_.emplace_back(shape_, part_.size());
  }
  const int workers = std::max(options.threads, 1);
  workers_.reserve(static_cast<std::size_t>(workers));
  for (int worker = 0; worker < workers; ++worker) {
    workers_.push_back({source.reader(), DenseConverter(source.meta(), options.dense), {}});
  }
  // Without threads, next() prepares the one slot when the caller is done with what it holds.
  for (std::size_t slot = 0; slot < slots && options.threads > 0; ++slot) {
    prepare_next_slot();
  }
  for (int thread = 0; thread < options.threads; ++thread) {
    threads_.emplace_back([this, &worker = workers_[static_cast<std::size_t>(thread)]](
                              const std::stop_token& stop) { work_until_stopped(worker, stop); });
  }
}

BatchLoader::~BatchLoader() = default;

BatchLoader::Slot& BatchLoader::slot_of(std::int64_t batch_number) {
  return ring_[static_cast<std::size_t>(batch_number) % ring_.size()];
}

/// Chooses the entries of the next batch and lets the workers begin with it. Its slot is free: all
/// of its events are filled, and the caller is done with them.
void BatchLoader::prepare_next_slot() {
  const std::int64_t valid = order_.select(prepared_sample_, chosen_);
  if (valid == 0) {
    return;
  }
  Slot& slot = slot_of(prepared_);
  std::copy(chosen_.begin() + part_.begin, chosen_.begin() + part_.end, slot.entries.begin());
  slot.batch.valid = std::clamp<std::int64_t>(valid - part_.begin, 0, part_.size());
  slot.batch.first_sample = prepared_sample_;
  slot.batch.epoch = prepared_sample_ / order_.entries();
  prepared_sample_ += options_.batch;
  {
    const std::lock_guard lock(mutex_);
    slot.filled = 0;
    slot.error = nullptr;
    ++prepared_;
  }
  work_arrived_.notify_all();
}

const Batch* BatchLoader::next() {
  const Stopwatch watch;
  // The slot that was handed out last is free now; at the first call none was.
  if (handed_out_ > 0 || options_.threads == 0) {
    prepare_next_slot();
  }
  if (options_.threads == 0) {
    while (next_ticket_ < prepared_ * part_.size()) {
      serve(workers_.front(), take_ticket());
    }
  }
  std::unique_lock lock(mutex_);
  if (handed_out_ == prepared_) {
    return nullptr;
  }
  Slot& slot = slot_of(handed_out_);
  batch_filled_.wait(lock, [&] { return slot.filled == part_.size(); });
  ++handed_out_;
  times_.waiting_seconds += watch.seconds();
  return hand_out(slot);
}

const Batch* BatchLoader::hand_out(Slot& slot) {
  if (slot.error != nullptr) {
    std::rethrow_exception(std::exchange(slot.error, nullptr));
  }
  next_sample_ = slot.batch.first_sample + options_.batch;
  return &slot.batch;
}

LoaderTimes BatchLoader::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void BatchLoader::work_until_stopped(Worker& worker, const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    const auto arrived = [&] { return next_ticket_ < prepared_ * part_.size(); };
    if (!work_arrived_.wait(lock, stop, arrived) || stop.stop_requested()) {
      return;
    }
    const Ticket ticket = take_ticket();
    lock.unlock();
    serve(worker, ticket);
  }
}

/// In the order of the batches, so that the next to be handed out is always the next to be full.
BatchLoader::Ticket BatchLoader::take_ticket() {
  const std::int64_t ticket = next_ticket_++;
  return {&slot_of(ticket / part_.size()), ticket % part_.size()};
}

void BatchLoader::serve(Worker& worker, const Ticket& ticket) {
  LoaderTimes spent;
  std::exception_ptr error;
  try {
    read_into(worker, ticket, spent);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  times_.reading_seconds += spent.reading_seconds;
  times_.converting_seconds += spent.converting_seconds;
  times_.events += spent.events;
  times_.pixels += spent.pixels;
  Slot& slot = *ticket.slot;
  if (error != nullptr && (slot.error == nullptr || ticket.position < slot.error_position)) {
    slot.error = std::move(error);  // not a copy: the caller's thread is the one that ends its life
    slot.error_position = ticket.position;
  }
  if (++slot.filled == part_.size()) {
    batch_filled_.notify_one();
  }
}

void BatchLoader::read_into(Worker& worker, const Ticket& ticket, LoaderTimes& spent) {
  const auto at = static_cast<std::size_t>(ticket.position);
  Slot& slot = *ticket.slot;
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
      const std::int64_t sample = slot.batch.first_sample + part_.begin + ticket.position;
      RandomStream random = numbered_stream(options_.order.seed, "flips of sample", sample);
      flip(worker.event, random_flips(random));
    }
    worker.converter.convert(worker.event, slot.dense[at]);
  } catch (const DataError& error) {
    throw DataError("event " + std::to_string(entry) + " of " + source_.description() + ": " +
                    error.what());
  }
  spent.converting_seconds = watch.seconds();
}

}  // namespace cosmic::data
