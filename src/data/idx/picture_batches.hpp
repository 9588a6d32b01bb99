// Labelled pictures as the batches of a training or test run: floats from -1 to 1, as many pictures
// as a batch takes, in an order that is new in every epoch and the same for the same seed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/idx/fashion_mnist.hpp"

namespace cosmic::data {

/// Memory of the PictureBatches that made it; valid until its next call.
struct PictureBatch {
  std::span<const float> images;         ///< [batch, 1, rows, columns]
  std::span<const std::uint8_t> labels;  ///< [batch]
};

class PictureBatches {
 public:
  /// The pictures outlive it. Without a seed they come in the order of the file. What does not fill
  /// a batch at the end of an epoch is left out.
  PictureBatches(const FashionMnist& pictures, std::int64_t batch,
                 std::optional<std::uint64_t> seed);

  std::int64_t batches_per_epoch() const { return pictures_.size() / batch_; }
  /// Null at the end of an epoch, after which the next one begins.
  const PictureBatch* next();

 private:
  void begin_epoch();

  const FashionMnist& pictures_;
  std::int64_t batch_;
  std::optional<std::uint64_t> seed_;
  std::vector<std::int64_t> order_;
  std::int64_t epoch_ = 0;
  std::int64_t next_ = 0;  ///< batch of the epoch
  std::vector<float> images_;
  std::vector<std::uint8_t> labels_;
  PictureBatch handed_out_;
};

}  // namespace cosmic::data
