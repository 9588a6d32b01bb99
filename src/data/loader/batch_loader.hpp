// Reads batches ahead of a step, in threads of its own, so that the step never waits where reading
// is fast enough. Which events a batch holds, and every bit of it, depends on the options and on
// the source; never on the number of threads or on timing.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/dense_image.hpp"
#include "data/event_source.hpp"
#include "data/loader/batch.hpp"
#include "data/loader/entry_order.hpp"
#include "data/loader/partition.hpp"
#include "data/loader/read_ahead.hpp"

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

  void prepare_next_slot();
  void serve(std::size_t worker, std::size_t slot, std::int64_t position);
  void read_into(Worker& worker, Slot& slot, std::int64_t position, LoaderTimes& spent);

  const EventSource& source_;
  const LoaderOptions options_;
  const Range part_;  ///< of the global batch
  EntryOrder order_;
  DenseShape shape_;
  std::vector<Slot> ring_;
  std::vector<Worker> workers_;

  std::int64_t next_sample_;          ///< after the batch that was handed out last
  std::int64_t prepared_sample_;      ///< after the batch that was prepared last
  std::vector<std::int64_t> chosen_;  ///< entries of a global batch
  bool handed_out_ = false;           ///< so that a slot is free when the next batch is asked for

  mutable std::mutex times_mutex_;
  LoaderTimes times_;

  ReadAhead read_ahead_;  ///< last: its threads end before anything they use goes
};

}  // namespace cosmic::data
