#include "data/larcv/label_match.hpp"

#include <utility>
#include <vector>

namespace cosmic::data::larcv {

std::int64_t match_labels(const SparsePlane& image, const ReadPlace& place, SparsePlane& labels,
                          ReadWarnings& warnings) {
  if (labels.ids == image.ids) {
    return 0;
  }
  std::vector<float> values(image.ids.size(), static_cast<float>(Label::background));
  std::uint64_t found = 0;
  std::size_t at = 0;
  for (std::size_t pixel = 0; pixel < image.ids.size(); ++pixel) {
    while (at < labels.ids.size() && labels.ids[at] < image.ids[pixel]) {
      ++at;
    }
    if (at < labels.ids.size() && labels.ids[at] == image.ids[pixel]) {
      values[pixel] = labels.values[at];
      ++found;
    }
  }
  const auto text = [&] {
    return place.text() + ": the image has " + std::to_string(image.ids.size()) +
           " pixels, the labels " + std::to_string(labels.ids.size()) + ", and " +
           std::to_string(found) + " are in both";
  };
  if (found < labels.ids.size()) {
    warnings.add(WarningKind::label_without_pixel, labels.ids.size() - found, place, text);
  }
  if (found < image.ids.size()) {
    warnings.add(WarningKind::pixel_without_label, image.ids.size() - found, place, text);
  }
  labels.ids = image.ids;
  labels.values = std::move(values);
  return static_cast<std::int64_t>(image.ids.size() - found);
}

}  // namespace cosmic::data::larcv
