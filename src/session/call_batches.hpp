// What a call of a model is given: the images and labels of its micro-batches, or only those of
// their pixels that are not zero.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "session/call_shape.hpp"
#include "target/run_input.hpp"

namespace cosmic::session {

/// The pixels of one micro-batch that are not zero, as places in the image of each event. Whoever
/// trains or tags on a target that likes them (CompiledModel::prefers_pixels) saves the time to
/// make images and to bring them there; the results are the same.
struct SparseBatch {
  target::SparsePixels image;
  target::SparsePixels label;  ///< nobody looks at it where there are no labels
  target::HostMemory memory = target::HostMemory::pageable;
};

/// Views of memory that is the caller's.
class CallBatches {
 public:
  CallBatches(std::span<const float> image, std::span<const std::uint8_t> label)
      : image_(image), label_(label) {}
  explicit CallBatches(std::span<const SparseBatch> sparse) : sparse_(sparse), is_sparse_(true) {}

  /// Whether they can be taken apart into so many micro-batches.
  bool hold(std::int64_t batches) const {
    const auto count = static_cast<std::size_t>(batches);
    return is_sparse_ ? sparse_.size() == count
                      : image_.size() % count == 0 && label_.size() % count == 0;
  }
  /// "3 sparse batches", "an image of 12 and a label of 12 elements"
  std::string text() const {
    return is_sparse_ ? std::to_string(sparse_.size()) + " sparse batches"
                      : "an image of " + std::to_string(image_.size()) + " and a label of " +
                            std::to_string(label_.size()) + " elements";
  }
  /// Of micro-batch number `batch` of `batches`.
  target::RunInput image(std::int64_t batch, std::int64_t batches) const {
    return is_sparse_ ? target::RunInput(at(batch).image, at(batch).memory)
                      : target::RunInput(std::as_bytes(micro_batch(image_, batch, batches)));
  }
  target::RunInput label(std::int64_t batch, std::int64_t batches) const {
    return is_sparse_ ? target::RunInput(at(batch).label, at(batch).memory)
                      : target::RunInput(std::as_bytes(micro_batch(label_, batch, batches)));
  }

 private:
  const SparseBatch& at(std::int64_t batch) const {
    return sparse_[static_cast<std::size_t>(batch)];
  }

  std::span<const float> image_;
  std::span<const std::uint8_t> label_;
  std::span<const SparseBatch> sparse_;
  bool is_sparse_ = false;
};

}  // namespace cosmic::session
