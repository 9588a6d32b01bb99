#include "data/augment.hpp"

#include <algorithm>
#include <cstddef>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

void reverse_pixels(SparsePlane& plane, std::size_t begin, std::size_t end) {
  const auto from = static_cast<std::ptrdiff_t>(begin);
  const auto to = static_cast<std::ptrdiff_t>(end);
  std::reverse(plane.ids.begin() + from, plane.ids.begin() + to);
  std::reverse(plane.values.begin() + from, plane.values.begin() + to);
}

/// Turns both axes: the last id becomes the first.
void flip_both(SparsePlane& plane) {
  const std::uint64_t last = plane.meta.columns() * plane.meta.rows() - 1;
  reverse_pixels(plane, 0, plane.ids.size());
  for (std::uint64_t& id : plane.ids) {
    id = last - id;
  }
}

/// Reverses the rows; a column is a run of pixels, which stays where it is.
void flip_time(SparsePlane& plane) {
  const std::uint64_t rows = plane.meta.rows();
  for (std::size_t begin = 0; begin < plane.ids.size();) {
    const std::uint64_t first = plane.ids[begin] / rows * rows;
    std::size_t end = begin;
    for (; end < plane.ids.size() && plane.ids[end] - first < rows; ++end) {
      plane.ids[end] = first + (rows - 1 - (plane.ids[end] - first));
    }
    reverse_pixels(plane, begin, end);
    begin = end;
  }
}

/// Keeps the pixels of wires that live.
template <class Lives>
void keep_wires(SparsePlane& plane, const Lives& lives) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < plane.ids.size(); ++i) {
    if (lives(plane.ids[i] / plane.meta.rows())) {
      plane.ids[kept] = plane.ids[i];
      plane.values[kept] = plane.values[i];
      ++kept;
    }
  }
  plane.ids.resize(kept);
  plane.values.resize(kept);
}

}  // namespace

Flips random_flips(RandomStream& random) {
  const std::uint64_t bits = random.next();
  return {.wire = (bits & 1) != 0, .time = (bits & 2) != 0};
}

void flip(SparsePlane& plane, const Flips& flips) {
  COSMIC_ASSERT(plane.ids.empty() || plane.meta.rows() > 0);
  if (flips.wire) {
    flip_both(plane);
  }
  if (flips.wire != flips.time) {
    flip_time(plane);  // alone, or to take back what turning both axes did to the time
  }
}

void flip(SparseEvent& event, const Flips& flips) {
  for (SparseImage* image : {&event.image, &event.labels}) {
    for (SparsePlane& plane : *image) {
      flip(plane, flips);
    }
  }
}

void scale_charge(SparseImage& image, double width, RandomStream& random) {
  for (SparsePlane& plane : image) {
    const auto factor = static_cast<float>(random.uniform(1 - width, 1 + width));
    for (float& charge : plane.values) {
      charge *= factor;
    }
  }
}

void add_noise(SparseImage& image, double deviation, RandomStream& random) {
  for (SparsePlane& plane : image) {
    for (float& charge : plane.values) {
      charge = std::max(0.0F, charge + static_cast<float>(deviation * random.normal()));
    }
  }
}

void kill_wires(SparseEvent& event, double share, RandomStream& random) {
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    // By the wire's number, so that image and labels lose the same ones.
    const std::uint64_t key = random.next();
    const auto lives = [&](std::uint64_t wire) {
      return static_cast<double>(mix(key + kGoldenRatio * (wire + 1)) >> 11) * 0x1p-53 >= share;
    };
    keep_wires(event.image[plane], lives);
    keep_wires(event.labels[plane], lives);
  }
}

}  // namespace cosmic::data
