// The reference target's only kind of data: doubles in plain row-major order, and a few ways to
// find an element. Integers up to 2^53 are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/tensor_type.hpp"

namespace cosmic::target::reference {

struct Tensor {
  graph::TensorType type;
  std::vector<double> data;
};

Tensor zeros(const graph::TensorType& type);

/// From and to elements of the type's own dtype. The bytes must be exactly the tensor's.
Tensor from_bytes(const graph::TensorType& type, std::span<const std::byte> bytes);
void to_bytes(const Tensor& tensor, std::span<std::byte> bytes);

/// A pixel of one channel of one image. In two dimensions depth is 0.
struct Position {
  std::int64_t depth = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

inline bool inside(const graph::FeatureMap& map, const Position& p) {
  return p.depth >= 0 && p.depth < map.depth && p.row >= 0 && p.row < map.rows && p.column >= 0 &&
         p.column < map.columns;
}

inline std::int64_t element(const graph::FeatureMap& map, std::int64_t image, std::int64_t channel,
                            const Position& p) {
  return (((image * map.channels + channel) * map.depth + p.depth) * map.rows + p.row) *
             map.columns +
         p.column;
}

/// Calls visit(position) for every pixel in row-major order.
template <class Visit>
void for_each_position(const graph::FeatureMap& map, const Visit& visit) {
  for (std::int64_t depth = 0; depth < map.depth; ++depth) {
    for (std::int64_t row = 0; row < map.rows; ++row) {
      for (std::int64_t column = 0; column < map.columns; ++column) {
        visit(Position{depth, row, column});
      }
    }
  }
}

/// Calls visit(image, channel, index of the element) for every element.
template <class Visit>
void for_each_element(const graph::FeatureMap& map, const Visit& visit) {
  std::int64_t index = 0;
  for (std::int64_t image = 0; image < map.batch; ++image) {
    for (std::int64_t channel = 0; channel < map.channels; ++channel) {
      for (std::int64_t pixel = 0; pixel < map.pixels(); ++pixel) {
        visit(image, channel, index++);
      }
    }
  }
}

/// A tensor of any rank seen as [outer, extent, inner] around one of its axes.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;

  std::int64_t element(std::int64_t before, std::int64_t at, std::int64_t after) const {
    return (before * extent + at) * inner + after;
  }
};

AxisView around_axis(const graph::TensorType& type, std::int64_t axis);

}  // namespace cosmic::target::reference
