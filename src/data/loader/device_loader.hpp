// Loads what one call of a model takes: all its micro-batches, one after the other, from any data
// set. Which samples a batch holds depends on the seed and on the source; never on the number of
// threads or on timing.
//
//   data::DeviceLoader loader(samples, {.micro_batch = 16, .micro_batches = 8, .seed = 1});
//   for (int epoch = 0; epoch < 5; ++epoch) {
//     while (const data::DeviceBatch* batch = loader.next()) {
//       training(batch->images, batch->labels, rate);
//     }
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/loader/entry_order.hpp"
#include "data/loader/read_ahead.hpp"
#include "data/sample_source.hpp"

namespace cosmic::data {

enum class Shuffle { no, yes };

/// What becomes of the samples of an epoch that do not fill a call.
enum class Rest {
  drop,  ///< another epoch has them elsewhere, if it is shuffled
  pad,   ///< the call is filled up with empty samples; DeviceBatch::valid says how many are none
};

struct DeviceLoaderOptions {
  std::int64_t micro_batch = 1;    ///< samples that the model sees at once
  std::int64_t micro_batches = 1;  ///< of a call: iterations x replicas x accumulation
  Shuffle shuffle = Shuffle::yes;
  std::uint64_t seed = 0;
  Rest rest = Rest::drop;
  int threads = 0;  ///< that read ahead; 0: next() reads, in its caller's thread
  int ring = 3;     ///< calls in memory: the one that was handed out, and those read ahead

  std::int64_t samples() const { return micro_batch * micro_batches; }
};

/// Looks at memory of the loader, which stays as it is until the next call of next().
struct DeviceBatch {
  std::span<const float> images;
  std::span<const std::uint8_t> labels;
  std::span<const std::int64_t> samples;  ///< their numbers in the source; kNoEntry for padding
  std::int64_t valid = 0;                 ///< samples that are not padding; they come first
  std::int64_t epoch = 0;
};

/// One thread uses it. The source outlives it. Destroying it in the middle of an epoch is fine; the
/// threads finish the sample that they are at.
class DeviceLoader {
 public:
  /// Throws UserError for options that no batch can be made of.
  DeviceLoader(const SampleSource& source, const DeviceLoaderOptions& options);
  DeviceLoader(const DeviceLoader&) = delete;
  DeviceLoader& operator=(const DeviceLoader&) = delete;

  /// The next call's samples; null at the end of an epoch, after which the next epoch begins.
  /// Throws what reading one of the samples threw (of several, the first), with the sample's number
  /// and the source. That batch is lost; the next call gives the one after it. Allocates nothing
  /// after the first epoch has begun.
  const DeviceBatch* next();

  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }

 private:
  struct Slot {
    std::vector<float> images;
    std::vector<std::uint8_t> labels;
    std::vector<std::int64_t> samples;
    DeviceBatch batch;
  };

  void prepare_next_slot();
  void fill(std::size_t worker, Slot& slot, std::int64_t position);

  const SampleSource& source_;
  const DeviceLoaderOptions options_;
  const std::int64_t batches_per_epoch_;
  EntryOrder order_;
  std::vector<Slot> ring_;
  std::vector<std::unique_ptr<SampleReader>> readers_;  ///< one per thread
  std::int64_t prepared_ = 0;                           ///< batches, since the start
  std::int64_t handed_out_ = 0;
  bool epoch_ended_ = false;  ///< was said by the last call of next()
  ReadAhead read_ahead_;      ///< last: its threads end before anything they use goes
};

}  // namespace cosmic::data
