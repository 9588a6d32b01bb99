// What the network sees and says about one event, as pictures for TensorBoard.
#pragma once

#include <cstdint>
#include <span>

#include "data/dense_image.hpp"
#include "output/tensorboard_writer.hpp"

namespace cosmic::train {

/// Entries of the curves between two pictures; with an entry at every step, that of the reference.
inline constexpr std::int64_t kImageIteration = 25;

/// A batch of which the first event is shown.
struct SummaryEvent {
  data::DenseShape shape;
  std::int64_t batch = 1;
  std::span<const float> logits;         ///< [3 * batch, 3, rows, columns], plane-major
  std::span<const std::uint8_t> labels;  ///< [batch, 3, rows, columns]
};

/// Prediction and label of each plane.
void add_summary_images(output::TensorBoardWriter& board, std::int64_t step,
                        const SummaryEvent& event);

}  // namespace cosmic::train
