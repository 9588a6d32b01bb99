// Fills what one call of a model takes from any data set, and reads ahead in threads of its own, so
// that a step never waits where reading is fast enough. Which samples a batch holds, and every bit
// of it, depends on the options and on the source; never on the number of threads or on timing.
//
//   data::BatchLoader loader(samples, {.batch = 16,
//                                      .micro_batches = 8,
//                                      .order = {.kind = data::OrderKind::shuffled,
//                                                .passes = data::Passes::epochs}});
//   for (int epoch = 0; epoch < 5; ++epoch) {
//     while (const data::Batch* batch = loader.next()) {
//       training(batch->images, batch->labels, rate);
//     }
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/loader/batch.hpp"
#include "data/loader/entry_order.hpp"
#include "data/loader/partition.hpp"
#include "data/loader/read_ahead.hpp"
#include "data/sample_source.hpp"

namespace cosmic::data {

/// Memory for the pixels of a batch, and whether a machine may fetch it by itself.
struct BatchMemory {
  std::shared_ptr<std::byte> bytes;  // shared with whoever made it, who may keep a longer piece
  bool pinned = false;
};

struct LoaderOptions {
  std::int64_t batch = 1;          ///< samples that a model sees at once, of all ranks together
  std::int64_t micro_batches = 1;  ///< such batches in a call: iterations x replicas x accumulation
  OrderOptions order = {};
  Partition partition = {};  ///< of each of these batches
  int threads = 1;           ///< that read; 0: next() reads, in its caller's thread
  int ring = 2;              ///< calls in memory: those that are in use, and those read ahead
  /// Calls that are in use at the same time: what next() gave stays as it is until it was called
  /// this many times again.
  int in_use = 1;
  /// Pixels only of a source that has them.
  BatchForm form = BatchForm::images;
  /// Makes the memory that pixels are handed over in, from any thread; empty for ordinary memory.
  /// Asked once for each call of the ring, and again where the pixels of one need more.
  std::function<BatchMemory(std::size_t bytes)> memory = {};
  /// Hears of each kind of odd thing when it is first read and, if it became more, at the end; of
  /// one pass, which has an end in sight, at its end alone. Called from the thread that calls
  /// next(). Without it nobody hears, and whoever has the loader tells what finish() returns.
  std::function<void(const std::string&)> warn = {};

  /// Of a call, of all ranks together.
  std::int64_t samples() const { return batch * micro_batches; }
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
/// finish the sample that they are at.
class BatchLoader final : public BatchSource {
 public:
  /// With a state, goes on after the batch that the state was taken at. Throws UserError for
  /// options that no batch can be made of.
  BatchLoader(const SampleSource& source, const LoaderOptions& options,
              const std::optional<OrderState>& state = std::nullopt);
  ~BatchLoader() override;
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Null at the end of a pass; where more of them follow, the call after it begins the next.
  /// Throws what reading one of the batch's samples threw (of several, the first in the batch).
  /// That batch is lost; the next call gives the one after it.
  const Batch* next() override;
  std::int64_t epoch_size() const override { return order_.entries(); }
  /// Of one pass; of endless ones, those that lie in an epoch altogether.
  std::int64_t batches_per_epoch() const { return order_.batches_per_epoch(); }

  /// Of the batch that was handed out last, however far was read ahead.
  OrderState state() const { return order_.state(next_sample_); }
  LoaderTimes times() const;
  /// Of images; pixels take as much as events have, which nobody knows beforehand.
  std::int64_t memory_bytes() const;
  /// At the end of a run: what was odd in all that was read. Those kinds that became more since
  /// they were told are told again. Throws DataError if nothing that was read is of any use.
  std::vector<ReadNote> finish();
  /// What the user should know, to be shown once; often empty.
  std::string remark() const { return order_.remark(); }

 private:
  struct Slot;

  enum class Told { found, found_or_grown };
  void tell(Told which);
  std::int64_t place_in_call(std::int64_t position) const;
  void prepare_next_slot();
  void fill(std::size_t worker, Slot& slot, std::int64_t position);
  void read(std::size_t worker, Slot& slot, std::int64_t position);

  const SampleSource& source_;
  const LoaderOptions options_;
  const Range part_;  ///< of each batch of the call
  EntryOrder order_;
  std::vector<std::unique_ptr<Slot>> ring_;
  std::vector<std::unique_ptr<SampleReader>> readers_;  ///< one per thread

  std::int64_t next_sample_;          ///< after the batch that was handed out last
  std::int64_t prepared_sample_;      ///< after the batch that was prepared last
  std::vector<std::int64_t> chosen_;  ///< entries of a call of all ranks
  std::int64_t handed_out_ = 0;       ///< batches, of which the latest are in use
  bool epoch_ended_ = false;          ///< with the batch that was asked for last, and not yet said
  std::vector<ReadNote> told_;        ///< as they were told
  std::uint64_t known_count_ = 0;     ///< of notes, when the source was last asked for them

  mutable std::mutex times_mutex_;
  LoaderTimes times_;

  ReadAhead read_ahead_;  ///< last: its threads end before anything they use goes
};

}  // namespace cosmic::data
