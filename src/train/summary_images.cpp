#include "train/summary_images.hpp"

#include <string>
#include <vector>

#include "model/classify.hpp"

namespace cosmic::train {

void add_summary_images(output::TensorBoardWriter& board, std::int64_t step,
                        const SummaryEvent& event) {
  const data::DenseShape& shape = event.shape;
  const std::size_t pixels = shape.plane_pixels();
  constexpr auto kClasses = static_cast<std::size_t>(model::kClasses);
  std::vector<std::uint8_t> classes(pixels);
  for (std::int64_t plane = 0; plane < data::kPlanes; ++plane) {
    const auto first_image = static_cast<std::size_t>(plane * event.batch);
    model::classify(event.logits.subspan(first_image * kClasses * pixels, kClasses * pixels),
                    classes);
    const std::string name = "/plane_" + std::to_string(plane);
    board.add_image(step, "prediction" + name, {shape.rows, shape.columns, classes});
    board.add_image(step, "label" + name,
                    {shape.rows, shape.columns,
                     event.labels.subspan(static_cast<std::size_t>(plane) * pixels, pixels)});
  }
}

}  // namespace cosmic::train
