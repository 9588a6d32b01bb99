// The batches that one update is made of: several where gradients are accumulated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/run_data.hpp"

namespace cosmic::train {

/// The batches of one update, one after the other in memory.
class UpdateBatches {
 public:
  UpdateBatches(run::RunData& data, std::int64_t batches) : data_(data), batches_(batches) {}

  /// One batch is used where it is; several are copied together.
  void fetch() {
    entries_.clear();
    images_copy_.clear();
    labels_copy_.clear();
    for (std::int64_t i = 0; i < batches_; ++i) {
      const data::Batch& batch = data_.next();
      entries_.insert(entries_.end(), batch.entries.begin(), batch.entries.end());
      images_ = batch.images;
      labels_ = batch.labels;
      if (batches_ > 1) {
        images_copy_.insert(images_copy_.end(), batch.images.begin(), batch.images.end());
        labels_copy_.insert(labels_copy_.end(), batch.labels.begin(), batch.labels.end());
      }
    }
    if (batches_ > 1) {
      images_ = images_copy_;
      labels_ = labels_copy_;
    }
  }

  std::span<const float> images() const { return images_; }
  std::span<const std::uint8_t> labels() const { return labels_; }
  const std::vector<std::int64_t>& entries() const { return entries_; }

 private:
  run::RunData& data_;
  std::int64_t batches_;
  std::span<const float> images_;
  std::span<const std::uint8_t> labels_;
  std::vector<float> images_copy_;
  std::vector<std::uint8_t> labels_copy_;
  std::vector<std::int64_t> entries_;
};

}  // namespace cosmic::train
