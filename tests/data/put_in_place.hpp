// Pixels as the image that they stand for, against the image itself.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "data/event_pixels.hpp"

namespace cosmic::data {

template <class Value>
std::vector<Value> put_in_place(const PixelList<Value>& pixels, std::size_t size) {
  EXPECT_TRUE(std::is_sorted(pixels.places.begin(), pixels.places.end(), std::less_equal<>()))
      << "places ascend, and none comes twice";
  std::vector<Value> image(size);
  for (std::size_t i = 0; i < pixels.places.size(); ++i) {
    image.at(static_cast<std::size_t>(pixels.places[i])) = pixels.values[i];
  }
  return image;
}

/// As DenseConverter makes it, every bit of it.
inline void expect_same_image(const EventPixels& pixels, const SparseEvent& event,
                              const DenseOptions& options) {
  DenseConverter converter(event.image[0].meta, options);
  std::vector<float> charge(converter.shape().event_pixels());
  std::vector<std::uint8_t> label(charge.size());
  converter.convert(event, {charge, label});
  const std::vector<float> placed = put_in_place(pixels.charge, charge.size());
  EXPECT_EQ(std::memcmp(placed.data(), charge.data(), charge.size() * sizeof(float)), 0);
  EXPECT_EQ(put_in_place(pixels.label, label.size()), label);
}

}  // namespace cosmic::data
