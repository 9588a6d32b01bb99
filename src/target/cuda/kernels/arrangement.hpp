// Bodies that move elements without changing them; an element is known by its size alone. And what
// makes an input of the pixels that differ from its background.
#pragma once

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

template <class Element>
struct CopyBody {
  const Element* x;
  Element* y;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = x[i]; }
};

/// i: an element of the part, seen as [., run]; the whole is [., stride] with the part's runs at
/// `begin`.
template <class Element>
struct PutBody {
  const Element* part;
  Element* whole;
  std::int64_t run;
  std::int64_t stride;
  std::int64_t begin;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, run);
    whole[at.whole * stride + begin + at.rest] = part[i];
  }
};

/// The reverse. i: an element of the part.
template <class Element>
struct TakeBody {
  const Element* whole;
  Element* part;
  std::int64_t run;
  std::int64_t stride;
  std::int64_t begin;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, run);
    part[i] = whole[at.whole * stride + begin + at.rest];
  }
};

/// As PutBody, with zeros around. i: an element of the whole.
template <class Element>
struct EmbedBody {
  const Element* part;
  Element* whole;
  std::int64_t run;
  std::int64_t stride;
  std::int64_t begin;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, stride);
    const std::int64_t inside = at.rest - begin;
    whole[i] = inside >= 0 && inside < run ? part[at.whole * run + inside] : Element{0};
  }
};

/// x is [first, second, inner], y [second, first, inner]. i: an element of y.
template <class Element>
struct SwapAxesBody {
  const Element* x;
  Element* y;
  std::int64_t first;
  std::int64_t second;
  std::int64_t inner;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, inner);
    const Division axes = divide(at.whole, first);
    y[i] = x[(axes.rest * second + axes.whole) * inner + at.rest];
  }
};

/// i: a pixel that was given. Those of image k are [begins[k], begins[k + 1]).
template <class Element>
struct ScatterBody {
  const std::int64_t* begins;
  const std::int32_t* indices;
  const Element* values;
  Element* y;
  std::int64_t images;
  std::int64_t elements_per_image;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    // The last image that begins at or before i: images without pixels begin where the next does.
    std::int64_t low = 0;
    std::int64_t high = images;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (begins[middle] <= i) {
        low = middle;
      } else {
        high = middle;
      }
    }
    y[low * elements_per_image + indices[i]] = values[i];
  }
};

}  // namespace cosmic::target::cuda
