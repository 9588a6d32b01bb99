// Batches of noise, to time a step without any file: uniform charge, uniform labels. As in the
// reference's synthetic mode, a few images are made at the start and each batch begins one image
// later than the last. The numbers are our own generator's, not numpy's.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dense_image.hpp"
#include "data/loader/batch.hpp"

namespace cosmic::data {

struct SyntheticOptions {
  std::int64_t batch = 1;  ///< events of this rank; unlike with files, the batch is not divided
  DenseShape shape;
  std::uint64_t seed = 0;
};

class SyntheticBatches final : public BatchSource {
 public:
  explicit SyntheticBatches(const SyntheticOptions& options);

  /// There is always a next one.
  const Batch* next() override;
  std::int64_t memory_bytes() const;
  /// The size of a data set as a user would have, which schedules need; that of the reference.
  std::int64_t epoch_size() const override { return 1'000'000; }

 private:
  SyntheticOptions options_;
  std::int64_t images_;     ///< that were made
  std::int64_t first_ = 0;  ///< of the next batch
  std::vector<float> charge_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::int64_t> entries_;
  std::vector<EventId> ids_;
  Batch batch_;
};

}  // namespace cosmic::data
