// How batches get from a loader to a model: as images in ordinary memory, or, to a target that
// would rather have them so, as pixels in memory that it fetches by itself while the batch before
// is computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/loader/batch.hpp"
#include "data/loader/batch_loader.hpp"
#include "session/model.hpp"

namespace cosmic::run {

/// Calls in memory, if making an event takes so long that a thread without one is missed.
int ring_for_making(const data::LoaderOptions& options);

struct HandOver {
  data::BatchForm form = data::BatchForm::images;
  std::function<data::BatchMemory(std::size_t bytes)> memory = {};
  int in_use = 1;      ///< batches; data::LoaderOptions::in_use
  bool ahead = false;  ///< the batches of a call are read and staged while the one before runs

  /// Sets a loader up for it. Pixels take little room, so its ring has work for all threads.
  void set_up(data::LoaderOptions& options) const;
};

/// Whether whoever calls a model prepares the next call while one is in flight.
enum class Calls { one_by_one, overlapping };

/// As the model's target likes it, if each call takes `batches` of them. The model outlives whoever
/// uses the memory.
HandOver hand_over(const session::CompiledModel& model, Calls calls, std::int64_t batches = 1);

/// A batch that has pixels, as a model takes it.
session::SparseBatch sparse_batch(const data::Batch& batch);

/// What is not zero in images and labels, where that is less than all of it: for who has images and
/// a target that would rather have pixels.
class PixelsOf {
 public:
  /// Each micro-batch has `events` events. Labels may be empty.
  PixelsOf(std::span<const float> images, std::span<const std::uint8_t> labels, std::int64_t events,
           std::int64_t batches, const session::CompiledModel& model);

  /// One for each micro-batch; empty where the model should be given the images.
  std::span<const session::SparseBatch> batches() const { return batches_; }

 private:
  std::vector<target::HostBuffer> memory_;
  std::vector<session::SparseBatch> batches_;
};

}  // namespace cosmic::run
