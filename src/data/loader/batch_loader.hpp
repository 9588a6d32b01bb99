// Reads batches ahead of a step, in threads of its own, so that the step never waits where reading
// is fast enough. Which events a batch holds, and every bit of it, depends on the options and on
// the source; never on the number of threads or on timing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "data/dense_image.hpp"
#include "data/event_source.hpp"
#include "data/loader/batch.hpp"
#include "data/loader/entry_order.hpp"
#include "data/loader/partition.hpp"

namespace cosmic::data {

/// `flips`: each sample has its wires or its time reversed with a chance of one half.
enum class Augmentation { none, flips };

struct LoaderOptions {
  std::int64_t batch = 1;  ///< events of all ranks together
  OrderOptions order;
  Partition partition;
  DenseOptions dense;
  Augmentation augmentation = Augmentation::none;
  int threads = 1;  ///< that read; 0: next() reads, in its caller's thread
  int ring = 2;     ///< batches in memory: the one that was handed out, and those read ahead
};

/// Where the time went since the start. Times of several threads add up.
struct LoaderTimes {
  double reading_seconds = 0;     ///< from the source to sparse events
  double converting_seconds = 0;  ///< from sparse events to dense images
  double waiting_seconds = 0;     ///< of the caller of next()
  std::int64_t events = 0;
  std::int64_t pixels = 0;  ///< stored ones, of images and labels
};

/// One thread uses it. The source outlives it. Destroying it while threads read ahead is fine; they
/// finish the event that they are at.
class BatchLoader final : public BatchSource {
 public:
  /// With a state, goes on after the batch that the state was taken at.
  BatchLoader(const EventSource& source, const LoaderOptions& options,
              const std::optional<OrderState>& state = std::nullopt);
  ~BatchLoader() override;
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Throws what reading one of the batch's events threw (of several, the first in the batch). That
  /// batch is lost; the next call gives the one after it.
  const Batch* next() override;
  std::int64_t epoch_size() const override { return order_.entries(); }

  /// Of the batch that was handed out last, however far was read ahead.
  OrderState state() const { return order_.state(next_sample_); }
  LoaderTimes times() const;
  DenseShape shape() const { return shape_; }
  /// What the user should know, to be shown once; often empty.
  std::string remark() const { return order_.remark(); }

 private:
  struct Slot;
  struct Worker;

  /// One event to be read into a place of the ring.
  struct Ticket {
    Slot* slot;
    std::int64_t position;
  };

  Slot& slot_of(std::int64_t batch_number);
  void prepare_next_slot();
  const Batch* hand_out(Slot& slot);
  void work_until_stopped(Worker& worker, const std::stop_token& stop);
  Ticket take_ticket();
  void serve(Worker& worker, const Ticket& ticket);
  void read_into(Worker& worker, const Ticket& ticket, LoaderTimes& spent);

  const EventSource& source_;
  const LoaderOptions options_;
  const Range part_;  ///< of the global batch
  EntryOrder order_;
  DenseShape shape_;
  std::vector<Slot> ring_;  ///< batch number n is in slot n modulo the ring's size

  // The caller's side.
  std::int64_t next_sample_;          ///< after the batch that was handed out last
  std::int64_t prepared_sample_;      ///< after the batch that was prepared last
  std::vector<std::int64_t> chosen_;  ///< entries of a global batch
  std::int64_t handed_out_ = 0;       ///< batches

  // Between the caller and the workers.
  mutable std::mutex mutex_;
  std::condition_variable_any work_arrived_;
  std::condition_variable_any batch_filled_;
  std::int64_t prepared_ = 0;     ///< batches whose entries are known, so that they can be read
  std::int64_t next_ticket_ = 0;  ///< events that were given to a worker
  LoaderTimes times_;

  std::vector<Worker> workers_;
  std::vector<std::jthread> threads_;  ///< last: stopped and joined before anything they use goes
};

}  // namespace cosmic::data
